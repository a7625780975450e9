import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs, { promises } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { receiptFile } from '../../electron/evidence/receipt.ts';
import { createUnfinishedExports } from '../../electron/batch/output/unfinished-exports.ts';
import { done, failed } from '../../electron/contract/errors.ts';
import type { AppState } from '../../electron/contract/models/app.ts';
import type { AuditIntent } from '../../electron/audit/entries.ts';
import { openAtomicFile, partialOf, writeFileAtomically } from '../../electron/storage/atomic-file.ts';
import { value } from '../support/audit-folder.ts';
import { detokenize, openApp, planOf } from '../support/batch-app.ts';
import { fakeKeyring } from '../support/fake-keyring.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { openWholeApp } from '../support/whole-app.ts';

const card = '4111111111111111';
const noted = { job: 'job-1', connection: 'Acme', environment: 'production' } as const;

function setUp(folder = tempFolder()) {
  const lines: AuditIntent[] = [];
  let isRecording = true;
  const file = path.join(folder, 'exports.json');
  return {
    lines,
    target: path.join(folder, 'out.csv'),
    file,
    fail: () => (isRecording = false),
    open: (now = () => Date.now()) =>
      createUnfinishedExports({
        file,
        now,
        audit: {
          record: async (intent, run) => {
            if (!isRecording) return failed('audit.unwritable');
            lines.push(intent);
            return run(() => undefined);
          },
        },
      }),
  };
}

/** An export that is killed in the middle, as the process knows of it. */
const killed = (target: string, file: string): Promise<void> =>
  killedWhile(
    file,
    `await unfinished.during({ target: ${JSON.stringify(target)}, ...${JSON.stringify(noted)} }, async () => {
      const output = (await openAtomicFile(${JSON.stringify(target)})).value;
      await output.write(Buffer.from('${card}\\n'));
      console.log('written');
      await new Promise((resolve) => setTimeout(resolve, 60_000));
    });`,
  );

/** A process that tries a name, and is killed before it removes the file; answers with its name. */
async function killedTrial(folder: string, file: string): Promise<string> {
  const before = fs.readdirSync(folder);
  await killedWhile(
    file,
    `fs.rm = () => (console.log('made'), new Promise((resolve) => setTimeout(resolve, 60_000)));
    await unfinished.canMake(${JSON.stringify(path.join(folder, 'may.csv'))});`,
  );
  const made = fs
    .readdirSync(folder)
    .filter((name) => !before.includes(name) && name !== path.basename(file));
  expect(made).toEqual([expect.stringMatching(/^may\.csv\.[\da-f]{7}$/)]);
  return path.join(folder, made[0] ?? '');
}

/** A process that replaces a small file, and is killed before it has its name. */
const killedWrite = (target: string, file: string): Promise<void> =>
  killedWhile(
    file,
    `const { rename } = fs;
    fs.rename = (from, to) =>
      to === ${JSON.stringify(file)} ? rename(from, to) : (console.log('written'), new Promise((resolve) => setTimeout(resolve, 60_000)));
    syncBuiltinESMExports();
    watchWrites((target, write) => (target === ${JSON.stringify(file)} ? write() : unfinished.duringWrite(target, write)));
    await writeFileAtomically(${JSON.stringify(target)}, 'report');`,
  );

/** Kills a process once it has printed something. */
async function killedWhile(file: string, act: string): Promise<void> {
  const modules = ['batch/output/unfinished-exports', 'storage/atomic-file'].map((name) =>
    JSON.stringify(path.resolve(`electron/${name}.ts`)),
  );
  const script = `
    const { createUnfinishedExports } = await import(${modules[0] ?? ''});
    const { openAtomicFile, watchWrites, writeFileAtomically } = await import(${modules[1] ?? ''});
    const { syncBuiltinESMExports } = await import('node:module');
    const { default: fs } = await import('node:fs/promises');
    const audit = { record: (_intent, run) => run(() => undefined) };
    const unfinished = createUnfinishedExports({ file: ${JSON.stringify(file)}, audit, now: () => Date.now() });
    ${act}`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'exit');
}

test('what a killed export left in clear is removed at the next start, with a line in the log', async () => {
  const { open, lines, target, file } = setUp();
  await killed(target, file);
  expect(fs.readFileSync(partialOf(target), 'utf8')).toContain(card);
  const unfinished = open();
  await unfinished.removeLeft();
  expect(fs.existsSync(partialOf(target))).toBe(false);
  expect(unfinished.removed()).toEqual(['out.csv']);
  const { job, connection, environment } = noted;
  expect(lines).toEqual([{ action: 'RemovePartial', job, connection, environment, note: 'out.csv' }]);
  // Once.
  const next = open();
  await next.removeLeft();
  expect([next.removed(), lines.length]).toEqual([[], 1]);
});

test('with the rest of a killed export goes its receipt, and no other one', async () => {
  const { open, target, file } = setUp();
  const [receipt, other] = [receiptFile(target), receiptFile(`${target}-2`)];
  await killed(target, file);
  const half = partialOf(receipt);
  for (const name of [receipt, other, half]) fs.writeFileSync(name, '{}');
  await open().removeLeft();
  expect([receipt, half, other].map((name) => fs.existsSync(name))).toEqual([false, false, true]);
  // Of a file of before.
  await killed(target, file);
  fs.writeFileSync(receipt, '{}');
  fs.utimesSync(receipt, new Date(0), new Date(0));
  await open().removeLeft();
  expect([fs.existsSync(partialOf(target)), fs.existsSync(receipt)]).toEqual([false, true]);
});

test('a file that was killed between its two names is whole, and stays with its receipt', async () => {
  const { open, lines, target, file } = setUp();
  await killed(target, file);
  fs.linkSync(partialOf(target), target);
  fs.writeFileSync(receiptFile(target), '{}');
  const unfinished = open();
  await unfinished.removeLeft();
  expect([target, receiptFile(target), partialOf(target)].map((name) => fs.existsSync(name))).toEqual([
    true,
    true,
    false,
  ]);
  expect([unfinished.removed(), unfinished.left(), lines]).toEqual([[], [], []]);
});

test('a file gets its name once its receipt is there, and not at all where that can’t be written', async () => {
  const found: unknown[] = [];
  const app = await openApp({
    receipt({ target, content }) {
      found.push(fs.existsSync(target), fs.readFileSync(content, 'utf8'));
      return Promise.resolve(failed('keychain.unavailable'));
    },
  });
  onTestFinished(() => app.close());
  const sourceId = await app.open(await app.write('in.csv', 'token\n4000\n'));
  const { jobId } = await app.run(sourceId, planOf([detokenize(0)]));
  const asked = { content: 'tokens', safety: 'source', receipt: true } as const;
  expect(await app.export(jobId, asked)).toEqual(failed('keychain.unavailable'));
  expect(found).toEqual([false, 'token\n4000\n']);
  expect(fs.readdirSync(app.folder).filter((name) => name.startsWith('in_'))).toEqual([]);
});

test('it stays where the log can’t say so, and goes at a later start', async () => {
  const { open, fail, target, file } = setUp();
  await killed(target, file);
  fail();
  const unfinished = open();
  await unfinished.removeLeft();
  expect(unfinished.removed()).toEqual([]);
  expect(fs.existsSync(partialOf(target))).toBe(true);
  const again = setUp(path.dirname(target));
  await again.open().removeLeft();
  expect(fs.existsSync(partialOf(target))).toBe(false);
});

/** What a start finds: names of what it removed, and of what it could not look at. */
async function start({ open }: Pick<ReturnType<typeof setUp>, 'open'>) {
  const unfinished = open();
  await unfinished.removeLeft();
  return { removed: unfinished.removed(), left: unfinished.left() };
}

test('a file of that name that is older than the export may be the person’s own: it stays, and is named until it is gone', async () => {
  const app = setUp();
  const { target, file } = app;
  await killed(target, file);
  fs.utimesSync(partialOf(target), new Date(0), new Date(0));
  for (const _ of [1, 2]) expect(await start(app)).toEqual({ removed: [], left: ['out.csv'] });
  expect(fs.existsSync(partialOf(target))).toBe(true);
  fs.rmSync(partialOf(target));
  expect(await start(app)).toEqual({ removed: [], left: [] });
  expect(fs.existsSync(file)).toBe(false);
});

test('what is on a drive that is away is named, and removed when it is back', async () => {
  const app = setUp();
  const drive = path.join(tempFolder(), 'drive');
  const target = path.join(drive, 'out.csv');
  fs.mkdirSync(drive);
  await killed(target, app.file);
  fs.renameSync(drive, `${drive}.away`);
  expect(await start(app)).toEqual({ removed: [], left: ['out.csv'] });
  fs.renameSync(`${drive}.away`, drive);
  expect(await start(app)).toEqual({ removed: ['out.csv'], left: [] });
  expect([fs.existsSync(partialOf(target)), app.lines.length]).toEqual([false, 1]);
});

test('an export that ends is struck off, however it ends, and what it left on purpose stays', async () => {
  const { open, target, file } = setUp();
  const unfinished = open();
  const list = (): unknown => JSON.parse(fs.readFileSync(file, 'utf8'));
  const during = () => unfinished.during({ target, ...noted }, run);
  const run = vi.fn(async () => {
    const output = value(await openAtomicFile(target));
    await output.write(Buffer.from(card));
    await output.abandon(true);
    expect(list()).toMatchObject([{ target, ...noted }]);
    return failed('file.disk-full');
  });
  expect(await during()).toEqual(failed('file.disk-full'));
  expect(fs.existsSync(file)).toBe(false);
  run.mockRejectedValueOnce(new Error('fault'));
  await expect(during()).rejects.toThrow('fault');
  expect(fs.existsSync(file)).toBe(false);
  await open().removeLeft();
  expect(fs.existsSync(partialOf(target))).toBe(true);
});

test('a file that tried a name goes at the next start, and nobody is told', async () => {
  const app = setUp();
  const folder = path.dirname(app.target);
  const made = await killedTrial(folder, app.file);
  expect(await start(app)).toEqual({ removed: [], left: [] });
  expect([fs.existsSync(made), fs.existsSync(app.file), app.lines]).toEqual([false, false, []]);
  // One that another process makes meanwhile, of another person's app, is nobody's to remove.
  fs.writeFileSync(made, '');
  expect(value(await app.open().canMake(path.join(folder, 'may.csv')))).toBe(true);
  await start(app);
  expect(fs.readdirSync(folder)).toEqual([path.basename(made)]);
});

test('what a killed write of a small file left goes at the next start, and nobody is told', async () => {
  const app = setUp();
  const { target, file } = app;
  fs.writeFileSync(target, 'earlier');
  await killedWrite(target, file);
  expect(fs.readFileSync(partialOf(target), 'utf8')).toBe('report');
  expect(await start(app)).toEqual({ removed: [], left: [] });
  expect([fs.existsSync(partialOf(target)), fs.existsSync(file), app.lines]).toEqual([false, false, []]);
  expect(fs.readFileSync(target, 'utf8')).toBe('earlier');
  // One of before is the person's own.
  await killedWrite(target, file);
  fs.utimesSync(partialOf(target), new Date(0), new Date(0));
  await start(app);
  expect([fs.existsSync(partialOf(target)), fs.existsSync(file)]).toEqual([true, false]);
});

test('the app notes each small file outside its own folder before it is written', async () => {
  const [home, elsewhere] = [tempFolder(), tempFolder()];
  const chooseTarget = ({ name }: { name: string }) => Promise.resolve(path.join(elsewhere, name));
  const app = await openWholeApp({ home, keyring: fakeKeyring(), platform: { chooseTarget } });
  onTestFinished(() => app.close());
  const notes = path.join(home, 'jobs', 'exports.json');
  /** The files that get their name while they are noted. */
  const found: string[] = [];
  const { rename } = promises;
  const replace = (next: typeof rename): void => {
    promises.rename = next;
    syncBuiltinESMExports();
  };
  onTestFinished(() => replace(rename));
  replace((from, to) => {
    const names = fs.existsSync(notes) && fs.statSync(notes).isFile() ? fs.readFileSync(notes, 'utf8') : '';
    if (names.includes(JSON.stringify(from))) found.push(path.basename(String(to)));
    return rename(from, to);
  });
  const write = () => writeFileAtomically(path.join(elsewhere, 'report.csv'), 'report');
  value(await app.ask('app.diagnostics', {}));
  const save = async () => [await app.ask('app.saveDiagnostics', {}), await write()];
  expect(await save()).toMatchObject([{ ok: true }, { ok: true }]);
  expect(found).toEqual([expect.stringContaining('diagnostics'), 'report.csv']);
  expect([fs.readdirSync(elsewhere).length, fs.existsSync(notes)]).toEqual([2, false]);
  // What tells why the app's folder can't be written must not depend on it.
  for (const name of fs.readdirSync(elsewhere)) fs.rmSync(path.join(elsewhere, name));
  fs.mkdirSync(notes);
  expect(await save()).toMatchObject([{ ok: true }, { ok: true }]);
  expect([found.length, fs.readdirSync(elsewhere).length]).toEqual([2, 2]);
  fs.rmdirSync(notes);
  await app.close();
  await write();
  expect(found).toHaveLength(2);
});

test('what an export left on purpose stays, though an earlier one of its name is still noted', async () => {
  const app = setUp();
  const drive = path.join(tempFolder(), 'drive');
  const target = path.join(drive, 'out.csv');
  for (const leave of [killedWrite, killed]) {
    fs.mkdirSync(drive);
    await leave(target, app.file);
    fs.rmSync(drive, { recursive: true });
    const unfinished = app.open();
    await unfinished.removeLeft();
    fs.mkdirSync(drive);
    await unfinished.during({ target, ...noted }, async () => {
      const output = value(await openAtomicFile(target));
      await output.write(Buffer.from(card));
      await output.abandon(true);
      return failed('file.disk-full');
    });
    expect(await start(app)).toEqual({ removed: [], left: [] });
    expect(fs.readFileSync(partialOf(target), 'utf8')).toBe(card);
    fs.rmSync(drive, { recursive: true });
  }
});

test('what is left stays noted where another export of its name fails before it writes anything', async () => {
  const app = setUp();
  const drive = path.join(tempFolder(), 'drive');
  const target = path.join(drive, 'out.csv');
  fs.mkdirSync(drive);
  await killed(target, app.file);
  const before = app.open();
  fs.renameSync(drive, `${drive}-away`);
  await before.removeLeft();
  const fail = () => before.during({ target, ...noted }, () => Promise.resolve(failed('file.unwritable')));
  await fail();
  fs.renameSync(`${drive}-away`, drive);
  await fail();
  expect(fs.readFileSync(partialOf(target), 'utf8')).toContain(card);
  expect(await start(app)).toEqual({ removed: ['out.csv'], left: [] });
  expect(fs.readdirSync(drive)).toEqual([]);
});

test('it stays noted too where its folder lets nobody look into it meanwhile', async () => {
  const app = setUp();
  await killed(app.target, app.file);
  const before = app.open();
  const look = vi.spyOn(promises, 'lstat').mockRejectedValue(Object.assign(new Error(), { code: 'EACCES' }));
  syncBuiltinESMExports();
  try {
    await before.removeLeft();
    await before.during({ target: app.target, ...noted }, () => Promise.resolve(failed('file.unwritable')));
  } finally {
    look.mockRestore();
    syncBuiltinESMExports();
  }
  expect(await start(app)).toEqual({ removed: ['out.csv'], left: [] });
});

test('a small file is written while the log does not answer', async () => {
  const app = setUp();
  await killed(app.target, app.file);
  // Behind the export, what was left of the same small file.
  const before = JSON.parse(fs.readFileSync(app.file, 'utf8')) as unknown[];
  const small = { partial: partialOf(`${app.target}-2`), at: Date.now() };
  fs.writeFileSync(app.file, JSON.stringify([...before, small]));
  fs.writeFileSync(small.partial, card);
  const isAsked = Promise.withResolvers<null>();
  const unfinished = createUnfinishedExports({
    file: app.file,
    now: () => Date.now(),
    audit: {
      record: () => {
        isAsked.resolve(null);
        return new Promise(() => undefined);
      },
    },
  });
  void unfinished.removeLeft();
  await isAsked.promise;
  expect(await unfinished.duringWrite(`${app.target}-2`, () => Promise.resolve(done(null)))).toEqual(
    done(null),
  );
});

test('a file with something in it, or a folder, by a tried name is somebody else’s', async () => {
  const app = setUp();
  const folder = path.dirname(app.target);
  for (const replace of [
    (file: string) => fs.writeFileSync(file, 'rows'),
    (file: string) => fs.mkdirSync(file),
  ]) {
    const made = await killedTrial(folder, app.file);
    fs.rmSync(made);
    replace(made);
    await start(app);
    expect([fs.existsSync(made), fs.existsSync(app.file)]).toEqual([true, false]);
  }
});

test('a tried name on a drive that is away goes when it is back, and the next trials change nothing in that', async () => {
  const app = setUp();
  const drive = tempFolder();
  const made = await killedTrial(drive, app.file);
  fs.renameSync(drive, `${drive}.away`);
  expect(await start(app)).toEqual({ removed: [], left: [] });
  const unfinished = app.open();
  await unfinished.removeLeft();
  expect(value(await unfinished.canMake(app.target))).toBe(true);
  fs.renameSync(`${drive}.away`, drive);
  await start(app);
  expect([fs.existsSync(made), fs.existsSync(app.file)]).toEqual([false, false]);
});

test.each([
  ['an export', ['drive']],
  ['an export', ['drive', 'folder']],
  ['a tried name', ['drive']],
  ['a tried name', ['drive', 'folder']],
])('%s is noted no longer where a file has the name of its folder: %j', async (kind, parts) => {
  const app = setUp();
  const parent = tempFolder();
  const [drive, folder] = [path.join(parent, 'drive'), path.join(parent, ...parts)];
  fs.mkdirSync(folder, { recursive: true });
  if (kind === 'an export') await killed(path.join(folder, 'out.csv'), app.file);
  else await killedTrial(folder, app.file);
  fs.rmSync(drive, { recursive: true });
  fs.writeFileSync(drive, 'rows');
  expect(await start(app)).toEqual({ removed: [], left: [] });
  expect([fs.existsSync(app.file), fs.readFileSync(drive, 'utf8')]).toEqual([false, 'rows']);
});

test('a name that the folder does not take is told, and leaves no note', async () => {
  const { open, file, target } = setUp();
  const longest = path.join(path.dirname(target), 'n'.repeat(247));
  for (const [name, fits] of [
    [longest, true],
    [`${longest}n`, false],
    [path.join(target, 'none', 'a'), false],
  ] as const)
    expect(value(await open().canMake(name))).toBe(fits);
  expect(fs.readdirSync(path.dirname(file))).toEqual([]);
  fs.mkdirSync(file);
  expect(await open().canMake(target)).toMatchObject({ ok: false });
});

test('a tried name that can’t be removed stays noted, and goes at the next start', async () => {
  const app = setUp();
  const folder = path.dirname(app.target);
  // As a folder that lets files be made and none removed.
  const refused = vi.spyOn(promises, 'rm').mockRejectedValueOnce(new Error('EPERM'));
  expect(value(await app.open().canMake(path.join(folder, 'may.csv')))).toBe(false);
  refused.mockRestore();
  expect(fs.readdirSync(folder)).toEqual([path.basename(app.file), expect.stringMatching(/^may\.csv\./)]);
  await start(app);
  expect(fs.readdirSync(folder)).toEqual([]);
});

test('an export that can’t be noted is not written', async () => {
  const { open, target, file } = setUp();
  fs.mkdirSync(file);
  const run = vi.fn(() => Promise.resolve(done(null)));
  expect(await open().during({ target, ...noted }, run)).toMatchObject({ ok: false });
  expect(run).not.toHaveBeenCalled();
});

test('every export of a batch is noted before it is written', async () => {
  const app = await openApp();
  onTestFinished(() => app.close());
  const sourceId = await app.open(await app.write('in.csv', 'token\n4000\n'));
  const { jobId } = await app.run(sourceId, planOf([detokenize(0)]));
  fs.mkdirSync(path.join(app.options.folder, 'exports.json'));
  expect(await app.export(jobId)).toMatchObject({ ok: false, failure: { code: 'file.unwritable' } });
  expect(fs.readdirSync(app.folder).filter((name) => /\.partial$|cleartext/.test(name))).toEqual([]);
  fs.rmdirSync(path.join(app.options.folder, 'exports.json'));
  expect(await app.export(jobId)).toMatchObject({ ok: true });
});

test('a damaged list removes nothing, and says so', async () => {
  const app = setUp();
  const { target, file } = app;
  await killed(target, file);
  fs.writeFileSync(file, `[{"target":${JSON.stringify(target)}`);
  expect(await start(app)).toEqual({ removed: [], left: [''] });
  expect([fs.existsSync(partialOf(target)), fs.existsSync(file)]).toEqual([true, false]);
});

test('a list that names another file than a rest removes nothing', async () => {
  const app = setUp();
  for (const name of [app.target, path.relative(process.cwd(), partialOf(app.target))]) {
    fs.writeFileSync(app.target, card);
    fs.writeFileSync(partialOf(app.target), card);
    fs.writeFileSync(app.file, JSON.stringify([{ partial: name, at: 0 }]));
    expect(await start(app)).toEqual({ removed: [], left: [''] });
    expect([fs.existsSync(app.target), fs.existsSync(partialOf(app.target))]).toEqual([true, true]);
  }
});

test('the app looks at its start, tells the window, and has the line in its log', async () => {
  const home = tempFolder();
  const target = path.join(tempFolder(), 'out.csv');
  fs.mkdirSync(path.join(home, 'jobs'));
  await killed(target, path.join(home, 'jobs', 'exports.json'));
  const app = await openWholeApp({ home, keyring: fakeKeyring() });
  onTestFinished(() => app.close());
  const stateOf = async () => value(await app.ask('app.state', {})) as AppState;
  await vi.waitFor(async () => expect((await stateOf()).removedPartials).toEqual(['out.csv']));
  expect(fs.existsSync(partialOf(target))).toBe(false);
  const { entries } = value(await app.ask('activity.list', { before: null, limit: 10, caseReference: null }));
  expect(entries.map(({ action, phase, note }) => [action, phase, note])).toEqual(
    expect.arrayContaining([['RemovePartial', 'ok', 'out.csv']]),
  );
});
