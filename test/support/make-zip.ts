import { crc32, deflateRawSync } from 'node:zlib';

interface Over {
  readonly crc?: number;
  /** What the directory says that an entry unpacks to. */
  readonly size?: number;
  readonly flags?: number;
  readonly method?: number;
}

/** A ZIP archive with whatever names and figures, which a library that writes archives would refuse. */
export function zipOf(
  entries: Readonly<Record<string, string | Buffer | { readonly content: Buffer }>>,
  over: Over = {},
): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, given] of Object.entries(entries)) {
    const content = Buffer.isBuffer(given) || typeof given === 'string' ? Buffer.from(given) : given.content;
    const packed = deflateRawSync(content);
    const fields = Buffer.alloc(26);
    fields.writeUInt16LE(20, 0);
    fields.writeUInt16LE(over.flags ?? 0, 2);
    fields.writeUInt16LE(over.method ?? 8, 4);
    fields.writeUInt16LE(0x21, 8);
    fields.writeUInt32LE(over.crc ?? crc32(content), 10);
    fields.writeUInt32LE(packed.length, 14);
    fields.writeUInt32LE(over.size ?? content.length, 18);
    fields.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), fields, Buffer.from(name), packed]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\0'), fields, place, Buffer.from(name)]));
    parts.push(local);
    offset += local.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06');
  end.writeUInt16LE(directory.length, 8);
  end.writeUInt16LE(directory.length, 10);
  end.writeUInt32LE(listed.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, listed, end]);
}
