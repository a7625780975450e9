import { spawnSync } from 'node:child_process';
import { gunzipSync, gzipSync, inflateRawSync } from 'node:zlib';
import type { Archive } from '../../electron/contract/models/packed.ts';
import { zipOf } from './make-zip.ts';

const script = `
import gzip, io, sys, zipfile
data = sys.stdin.buffer.read()
if sys.argv[2] == 'pack' and sys.argv[1] == 'gzip':
    out = gzip.compress(data)
elif sys.argv[2] == 'pack':
    file = io.BytesIO()
    with zipfile.ZipFile(file, 'w', zipfile.ZIP_DEFLATED) as archive:
        archive.writestr('in/case.csv', data)
    out = file.getvalue()
elif sys.argv[1] == 'gzip':
    out = gzip.decompress(data)
else:
    archive = zipfile.ZipFile(io.BytesIO(data))
    name, = archive.namelist()
    out = archive.read(name)
sys.stdout.buffer.write(out)
`;

const hasPython = spawnSync('python3', ['-c', 'import gzip, zipfile']).status === 0;

/** What is in an archive, by Python where there is one: it shares no code with what the app reads and writes with. */
export function readWithOther(archive: Archive, bytes: Buffer): Buffer {
  if (!hasPython) return archive === 'gzip' ? gunzipSync(bytes) : firstEntry(bytes);
  return askPython(archive, 'unpack', bytes);
}

/** The bytes in an archive, by the same program. */
export function packWithOther(archive: Archive, bytes: Buffer): Buffer {
  if (hasPython) return askPython(archive, 'pack', bytes);
  return archive === 'gzip' ? gzipSync(bytes) : zipOf({ 'in/case.csv': bytes });
}

function askPython(archive: Archive, act: 'pack' | 'unpack', input: Buffer): Buffer {
  const maxBuffer = 1024 * 1024 * 1024;
  const { status, stdout } = spawnSync('python3', ['-c', script, archive, act], { input, maxBuffer });
  if (status !== 0) throw new Error(`Python can’t ${act} this ${archive} archive`);
  return stdout;
}

/** By its directory, which stands at the end. */
function firstEntry(bytes: Buffer): Buffer {
  const end = bytes.lastIndexOf('PK\x05\x06');
  const entry = bytes.readUInt32LE(end + 16);
  const local = bytes.readUInt32LE(entry + 42);
  const from = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
  return inflateRawSync(bytes.subarray(from, from + bytes.readUInt32LE(entry + 20)));
}
