import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/*
 * Makes `icon.ico` and `icon.icns` of the PNG files in `resources/icons`: `node scripts/icons.ts`. Both are containers
 * that hold PNG files as they are. The result is committed, since electron-builder would download a tool to make it.
 */

const icons = fileURLToPath(new URL('../resources/icons', import.meta.url));
const png = (size: number): Buffer => fs.readFileSync(path.join(icons, `${size}x${size}.png`));

/** 256, the largest, is written as 0. */
const windowsSizes = [16, 32, 48, 64, 128, 256];

/** Windows' container: a header, an entry of 16 bytes for each image, then the images. */
export function createIco(): Buffer {
  const images = windowsSizes.map(png);
  const header = Buffer.from([0, 0, 1, 0, windowsSizes.length, 0]);
  let offset = header.length + 16 * images.length;
  const entries = images.map((image, index) => {
    const entry = Buffer.alloc(16);
    const size = (windowsSizes[index] ?? 0) % 256;
    entry.writeUInt8(size, 0);
    entry.writeUInt8(size, 1);
    entry.writeUInt16LE(1, 4); // planes
    entry.writeUInt16LE(32, 6); // bits a pixel
    entry.writeUInt32LE(image.length, 8);
    entry.writeUInt32LE(offset, 12);
    offset += image.length;
    return entry;
  });
  return Buffer.concat([header, ...entries, ...images]);
}

/** Apple's types for PNG images: plain ones, and those for screens of double density. */
const appleTypes = [
  ['ic07', 128],
  ['ic08', 256],
  ['ic09', 512],
  ['ic10', 1024],
  ['ic11', 32],
  ['ic12', 64],
  ['ic13', 256],
  ['ic14', 512],
] as const;

/** macOS' container: a header, then each image behind its type and length. */
export function createIcns(): Buffer {
  const chunk = (type: string, content: Buffer): Buffer => {
    const head = Buffer.alloc(8);
    head.write(type, 'latin1');
    head.writeUInt32BE(8 + content.length, 4);
    return Buffer.concat([head, content]);
  };
  return chunk('icns', Buffer.concat(appleTypes.map(([type, size]) => chunk(type, png(size)))));
}

if (import.meta.main) {
  fs.writeFileSync(path.join(icons, 'icon.ico'), createIco());
  fs.writeFileSync(path.join(icons, 'icon.icns'), createIcns());
}
