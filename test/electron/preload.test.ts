import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import vm from 'node:vm';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { calls } from '../../electron/contract/calls.ts';
import { buildPreload } from '../support/build-for-test.ts';
import { createFakeContents, preloadModule } from '../support/fake-electron.ts';

type Bridge = Record<string, (input: unknown) => Promise<unknown>> & {
  on: (event: string, listener: (...heard: unknown[]) => void) => () => void;
};

let folder = '';
let source = '';
beforeAll(async () => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-preload-'));
  source = fs.readFileSync(await buildPreload('electron', folder), 'utf8');
});
afterAll(() => {
  fs.rmSync(folder, { recursive: true, force: true });
});

/** Runs the built preload as a sandboxed one is run: one script, with a `require` for electron alone. */
function preloaded() {
  const invoked: unknown[][] = [];
  const handler = vi.fn((_event: unknown, payload: unknown) => ({ ok: true, value: payload }));
  const contents = createFakeContents(
    new Map(Object.keys(calls).map((name) => [`call:${name}`, handler as never])),
  );
  const files = new WeakMap<File, string>();
  const world: Record<string, unknown> = {};
  const required: string[] = [];
  const run = vm.compileFunction(source, ['require', 'module', 'exports']) as (...args: unknown[]) => void;
  run(
    (name: string) => {
      required.push(name);
      return preloadModule(world, contents, files);
    },
    { exports: {} },
    {},
  );
  return { app: world['tokendesk'] as Bridge, world, contents, files, handler, required, invoked };
}

describe('the built preload', () => {
  test('is one small script that needs electron and nothing else', () => {
    expect(preloaded().required).toEqual(['electron']);
    expect(source).not.toMatch(/\bimport\b\s*[({'"]/);
    expect(source).not.toContain('ZodError');
    expect(source).not.toContain('sourceMappingURL');
    expect(source.length).toBeLessThan(10_000);
    expect(fs.readdirSync(folder)).toEqual(['preload.cjs']);
  });

  test('puts one thing in the window: a function for each call, and on', () => {
    const { world, app } = preloaded();
    expect(Object.keys(world)).toEqual(['tokendesk']);
    expect(Object.keys(app)).toEqual([...Object.keys(calls), 'on']);
  });

  test('freezes it, and each function', () => {
    const { app } = preloaded();
    expect(Object.isFrozen(app)).toBe(true);
    for (const value of Object.values(app)) expect(Object.isFrozen(value)).toBe(true);
  });

  test('passes a call on, and its answer back', async () => {
    const { app, handler } = preloaded();
    expect(await app['lookup.hide']?.({ revealId: 'r1' })).toEqual({ ok: true, value: { revealId: 'r1' } });
    expect(handler).toHaveBeenCalledOnce();
  });

  test('hands over the path behind a File and not the File', async () => {
    const { app, files } = preloaded();
    const file = new File(['a,b'], 'cards.csv');
    files.set(file, '/files/cards.csv');
    expect(await app['batch.drop']?.(file)).toEqual({ ok: true, value: { reference: '/files/cards.csv' } });
  });

  test('takes no path in place of a File', async () => {
    const { app, handler } = preloaded();
    const forged = { name: 'passwd', path: '/etc/passwd', reference: '/etc/passwd' };
    for (const given of [forged, '/etc/passwd'])
      await expect((async () => app['batch.drop']?.(given))()).rejects.toThrow(TypeError);
    expect(handler).not.toHaveBeenCalled();
  });
});

describe('events', () => {
  test('come without the event of Electron, whose sender could send to any channel', () => {
    const { app, contents } = preloaded();
    const heard: unknown[][] = [];
    app.on('reveal.ended', (...args) => heard.push(args));
    contents.send('event:reveal.ended', { revealId: 'r1', cause: 'time' }, 'more');
    expect(heard).toEqual([[{ revealId: 'r1', cause: 'time' }]]);
  });

  test('stop when told to, for one listener of several', () => {
    const { app, contents } = preloaded();
    const heard: string[] = [];
    const stop = app.on('reveal.ended', () => heard.push('first'));
    app.on('reveal.ended', () => heard.push('second'));
    stop();
    contents.send('event:reveal.ended', {});
    expect(heard).toEqual(['second']);
  });

  test.each(['call:app.state', 'electron-store-get-data', '__proto__', ''])('can not be %j', (name) => {
    const { app, contents } = preloaded();
    expect(() => app.on(name, () => undefined)).toThrow(TypeError);
    expect(contents.page.eventNames()).toEqual([]);
  });
});
