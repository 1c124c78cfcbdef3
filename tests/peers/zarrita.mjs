// SPDX-License-Identifier: BSD-3-Clause
// Reads or writes arrays of Zarr version 3 with zarrita. Each line of standard input is JSON: {"read": STORE, "to": FILE}
// writes the samples of the array "0" to a file, {"write": STORE, "from": FILE, ...} creates the array "0" of the samples
// in a file. Prints a line of JSON for each.
import fs from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const modules = process.env.NODE_MODULES;
const find = (name) => pathToFileURL(createRequire(`${modules}/`).resolve(`${modules}/${name}/dist/src/index.js`)).href;
const zarr = await import(find("zarrita"));
const { FileSystemStore } = await import(find("@zarrita/storage"));
const arrays = {
    uint8: Uint8Array, int8: Int8Array, uint16: Uint16Array, int16: Int16Array, uint32: Uint32Array,
    int32: Int32Array, uint64: BigUint64Array, int64: BigInt64Array, float32: Float32Array, float64: Float64Array,
};

for (const line of fs.readFileSync(0, "utf8").split("\n").filter(Boolean)) {
    const task = JSON.parse(line);
    const root = zarr.root(new FileSystemStore(task.read ?? task.write));
    if (task.read) {
        const group = await zarr.open.v3(root, { kind: "group" });
        const array = await zarr.open.v3(root.resolve("0"), { kind: "array" });
        const { data, shape } = await zarr.get(array, null);
        fs.writeFileSync(task.to, new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
        console.log(JSON.stringify({ shape, type: array.dtype, chunks: array.chunks, ome: group.attrs.ome }));
    } else {
        const bytes = fs.readFileSync(task.from);
        const data = new arrays[task.type](bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
        const array = await zarr.create(root.resolve("0"), {
            shape: task.shape, chunk_shape: task.chunks, chunkShape: task.chunks, dtype: task.type,
            data_type: task.type, codecs: task.codecs, fill_value: 0, fillValue: 0,
        });
        const stride = task.shape.map((_, axis) => task.shape.slice(axis + 1).reduce((a, b) => a * b, 1));
        await zarr.set(array, null, { data, shape: task.shape, stride });
        console.log(JSON.stringify({ written: task.write }));
    }
}
