import fs from 'node:fs';

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

/** Processes that descend from this one. */
function descendants(): Process[] {
  const all = fs
    .readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name): Process[] => {
      try {
        const stat = fs.readFileSync(`/proc/${name}/stat`, 'utf8');
        const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
        const command = fs.readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return [{ pid: Number(name), parent, command }];
      } catch {
        return [];
      }
    });
  const found: Process[] = [];
  let parents = new Set([process.pid]);
  while (parents.size > 0) {
    const children = all.filter(({ parent }) => parents.has(parent));
    found.push(...children);
    parents = new Set(children.map(({ pid }) => pid));
  }
  return found;
}

export function rendererPids(): number[] {
  return descendants()
    .filter(({ command }) => command.includes('--type=renderer'))
    .map(({ pid }) => pid);
}

const blockBytes = 16 * 1024 * 1024;

/**
 * How often each text stands in the writable memory of a process, as UTF-8 and as UTF-16. Heap snapshots miss input
 * values, DOM text, buffers and long strings; the pages themselves miss nothing. Needs the right to trace (root).
 */
export function countInMemory(pid: number, texts: readonly string[]): Map<string, number> {
  const needles = texts.flatMap((text) => [
    { text, bytes: Buffer.from(text, 'utf8') },
    { text, bytes: Buffer.from(text, 'utf16le') },
  ]);
  const longest = Math.max(...needles.map(({ bytes }) => bytes.length));
  const counts = new Map(texts.map((text) => [text, 0]));
  const memory = fs.openSync(`/proc/${pid}/mem`, 'r');
  const block = Buffer.alloc(blockBytes + longest);
  try {
    for (const { from, to } of writableRanges(pid)) {
      // Read with an overlap, so that what straddles two blocks is seen, and counted in the first alone.
      for (let at = from; at < to; at += blockBytes) {
        const read = readAt(memory, block, Math.min(blockBytes + longest - 1, to - at), at);
        for (const { text, bytes } of needles) {
          let place = block.subarray(0, read).indexOf(bytes);
          while (place !== -1 && place < blockBytes) {
            counts.set(text, (counts.get(text) ?? 0) + 1);
            place = block.subarray(0, read).indexOf(bytes, place + 1);
          }
        }
      }
    }
  } finally {
    fs.closeSync(memory);
  }
  return counts;
}

const pageBytes = 4096;

/**
 * Neighbouring pages that hold something. What is reserved and was never touched is left out: it is most of the
 * addresses, and reads as zeros.
 */
function* writableRanges(pid: number): Generator<{ from: number; to: number }> {
  const pagemap = fs.openSync(`/proc/${pid}/pagemap`, 'r');
  try {
    for (const line of fs.readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n')) {
      const [, from = '', to = ''] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? [];
      if (from === '') continue;
      const first = Number.parseInt(from, 16) / pageBytes;
      const end = Number.parseInt(to, 16) / pageBytes;
      const entries = Buffer.alloc((end - first) * 8);
      readAt(pagemap, entries, entries.length, first * 8);
      let start = first;
      for (let page = first; page <= end; page++) {
        // The two highest bits of an entry: in memory, swapped out.
        const isHeld = page < end && (entries.readUInt8((page - first) * 8 + 7) & 0xc0) !== 0;
        if (isHeld) continue;
        if (page > start) yield { from: start * pageBytes, to: page * pageBytes };
        start = page + 1;
      }
    }
  } finally {
    fs.closeSync(pagemap);
  }
}

function readAt(file: number, into: Buffer, length: number, position: number): number {
  try {
    return fs.readSync(file, into, 0, length, position);
  } catch {
    // A page that is mapped and not there (guard pages, devices).
    return 0;
  }
}
