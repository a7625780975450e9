import fs from 'node:fs';
import fsPromises, { open, type FileHandle } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { openAtomicFile, writeFileAtomically } from '../../../electron/storage/atomic-file.ts';
import {
  canMount,
  codeOf,
  ended,
  moduleUrl,
  mountDisk,
  nextLine,
  startScript,
  tempFolder,
  valueOf,
} from './support.ts';

test('writes of a small file come in the order they were asked for, however long a content takes to make', async () => {
  const target = path.join(tempFolder(), 'spec');
  const made = Promise.withResolvers<readonly Uint8Array[]>();
  const writes = [writeFileAtomically(target, () => made.promise), writeFileAtomically(target, 'later')];
  made.resolve([Buffer.from('ear'), Buffer.from('lier')]);
  for (const written of await Promise.all(writes)) valueOf(written);
  expect(fs.readFileSync(target, 'utf8')).toBe('later');
});

describe('an atomic file', () => {
  test('is on the disk for good before it has its name, and its name before it says so', async () => {
    const target = path.join(tempFolder(), 'out.csv');
    const probe = await open(tempFolder(), 'r');
    const handle = Object.getPrototypeOf(probe) as Pick<FileHandle, 'sync' | 'write'>;
    await probe.close();
    const steps: string[] = [];
    const { sync, write } = handle;
    handle.sync = async function (this: FileHandle) {
      steps.push((await this.stat()).isDirectory() ? 'folder synced' : 'synced');
      return sync.call(this);
    };
    handle.write = function (this: FileHandle, ...args: unknown[]) {
      steps.push('written');
      return Reflect.apply(write, this, args) as unknown;
    } as typeof write;
    const rename = vi.spyOn(fsPromises, 'rename');
    rename.mockImplementation((from, to) => {
      steps.push('renamed');
      fs.renameSync(from, to);
      return Promise.resolve();
    });
    syncBuiltinESMExports();
    try {
      const file = valueOf(await openAtomicFile(target));
      valueOf(await file.write(Buffer.from('one ')));
      valueOf(await file.write(Buffer.from('two')));
      valueOf(await file.finish());
    } finally {
      Object.assign(handle, { sync, write });
      rename.mockRestore();
      syncBuiltinESMExports();
    }
    expect(steps).toEqual(['written', 'written', 'synced', 'renamed', 'folder synced']);
  });

  test('replaces its target when it is finished, and not before', async () => {
    const target = path.join(tempFolder(), 'out.csv');
    fs.writeFileSync(target, 'earlier', { mode: 0o644 });
    const file = valueOf(await openAtomicFile(target));
    valueOf(await file.write(Buffer.from('one ')));
    valueOf(await file.write(Buffer.from('two')));
    expect(fs.readFileSync(target, 'utf8')).toBe('earlier');
    expect(valueOf(await file.finish())).toBe(7);
    expect(fs.readFileSync(target, 'utf8')).toBe('one two');
    expect(fs.statSync(target).mode & 0o777).toBe(0o600);
    expect(fs.readdirSync(path.dirname(target))).toEqual(['out.csv']);
  });

  test('that is abandoned leaves the target, and the partial file only when asked', async () => {
    const target = path.join(tempFolder(), 'out.csv');
    fs.writeFileSync(target, 'earlier');
    for (const keep of [false, true]) {
      const file = valueOf(await openAtomicFile(target));
      valueOf(await file.write(Buffer.from('some')));
      await file.abandon(keep);
      expect(fs.readFileSync(target, 'utf8')).toBe('earlier');
      expect(fs.existsSync(`${target}.partial`)).toBe(keep);
    }
    expect(fs.readFileSync(`${target}.partial`, 'utf8')).toBe('some');
  });

  test('never writes through a link left at its temporary name', async () => {
    const folder = tempFolder();
    const victim = path.join(folder, 'victim');
    fs.writeFileSync(victim, 'mine');
    fs.symlinkSync(victim, path.join(folder, 'out.partial'));
    valueOf(await writeFileAtomically(path.join(folder, 'out'), 'new'));
    expect(fs.readFileSync(victim, 'utf8')).toBe('mine');
    expect(fs.lstatSync(path.join(folder, 'out')).isSymbolicLink()).toBe(false);
  });

  test('does not put another writer’s half file in place', async () => {
    const target = path.join(tempFolder(), 'out');
    const first = valueOf(await openAtomicFile(target));
    valueOf(await first.write(Buffer.from('first')));
    const second = valueOf(await openAtomicFile(target));
    valueOf(await second.write(Buffer.from('sec')));
    expect(codeOf(await first.finish())).toBe('file.unwritable');
    await first.abandon(false);
    valueOf(await second.write(Buffer.from('ond')));
    valueOf(await second.finish());
    expect(fs.readFileSync(target, 'utf8')).toBe('second');
  });

  test.skipIf(!canMount)(
    'keeps what fitted on a full disk, and writes nothing after it (needs root)',
    async () => {
      const target = path.join(mountDisk('64k'), 'out');
      fs.writeFileSync(target, 'earlier');
      const file = valueOf(await openAtomicFile(target));
      valueOf(await file.write(Buffer.alloc(10_000, 'a')));
      expect(await file.write(Buffer.alloc(100_000, 'b'))).toEqual({
        ok: false,
        failure: { code: 'file.disk-full', subject: 'out' },
      });
      expect(codeOf(await file.write(Buffer.from('c')))).toBe('file.disk-full');
      expect(codeOf(await file.finish())).toBe('file.disk-full');
      await file.abandon(true);
      expect(fs.readFileSync(target, 'utf8')).toBe('earlier');
      expect(fs.readFileSync(`${target}.partial`, 'utf8')).toBe('a'.repeat(10_000));
    },
  );
});

describe('content written atomically', () => {
  test('is there whole, for this user only, and replaces what was', async () => {
    const target = path.join(tempFolder(), 'state.json');
    valueOf(await writeFileAtomically(target, 'é'));
    valueOf(await writeFileAtomically(target, Buffer.from('{}')));
    expect(fs.readFileSync(target, 'utf8')).toBe('{}');
    expect(fs.statSync(target).mode & 0o777).toBe(0o600);
  });

  test('waits for earlier writes to the same file', async () => {
    const target = path.join(tempFolder(), 'state.json');
    const texts = Array.from({ length: 20 }, (_, index) => String(index).repeat(1000));
    const outcomes = await Promise.all(texts.map((text) => writeFileAtomically(target, text)));
    expect(outcomes.map(codeOf)).toEqual(texts.map(() => 'ok'));
    expect(fs.readFileSync(target, 'utf8')).toBe(texts.at(-1));
  });

  test('fails with the file’s name, never its path, and leaves nothing behind', async () => {
    const folder = tempFolder();
    fs.mkdirSync(path.join(folder, 'taken', 'x'), { recursive: true });
    const failure = { code: 'file.unwritable', subject: 'taken' };
    expect(await writeFileAtomically(path.join(folder, 'taken'), '')).toEqual({ ok: false, failure });
    expect(await writeFileAtomically(path.join(folder, 'none', 'taken'), '')).toEqual({ ok: false, failure });
    const named = await writeFileAtomically(path.join(folder, 'taken'), '', 'PKCS #12');
    expect(named).toEqual({ ok: false, failure: { ...failure, subject: 'PKCS #12' } });
    expect(fs.readdirSync(folder)).toEqual(['taken']);
  });

  test.skipIf(!canMount)('leaves the old content on a full disk (needs root)', async () => {
    const target = path.join(mountDisk('64k'), 'state.json');
    valueOf(await writeFileAtomically(target, 'earlier'));
    expect(codeOf(await writeFileAtomically(target, 'x'.repeat(100_000)))).toBe('file.disk-full');
    expect(fs.readFileSync(target, 'utf8')).toBe('earlier');
    expect(fs.readdirSync(path.dirname(target))).toEqual(['state.json']);
    valueOf(await writeFileAtomically(target, 'later'));
  });

  test('is the old or the new one when the process is killed', async () => {
    const target = path.join(tempFolder(), 'state.json');
    for (let round = 0; round < 5; round++) {
      const child = startScript(
        `import { writeFileAtomically } from '${moduleUrl('storage/atomic-file.ts')}';
         for (let count = 0; ; count++) {
           const outcome = await writeFileAtomically(process.argv[2], String(count % 10).repeat(300_000));
           if (!outcome.ok) throw new Error(outcome.failure.code);
           if (count === ${3 + round}) console.log('go');
         }`,
        [target],
      );
      await nextLine(child);
      const end = ended(child);
      child.kill('SIGKILL');
      await end;
      const text = fs.readFileSync(target, 'utf8');
      expect(text.length).toBe(300_000);
      expect(text).toBe((text[0] ?? '').repeat(300_000));
    }
    valueOf(await writeFileAtomically(target, 'after'));
    expect(fs.readdirSync(path.dirname(target))).toEqual(['state.json']);
  });
});
