import { expect, onTestFinished, test } from 'vitest';
import { electronOnChromium } from '../../../scripts/electron-binary.ts';
import { ProbeApp } from '../../support/probe-app.ts';

/*
 * Electron's cryptography is BoringSSL in each thread, however it was started. OpenSSL has what is asked for here.
 */

const asks = `
  const { createCipheriv } = require('node:crypto');
  let answer = 'made';
  try { createCipheriv('chacha20-poly1305', Buffer.alloc(32), Buffer.alloc(12)); } catch ({ message }) { answer = message; }
  require('node:worker_threads').parentPort.postMessage([answer, typeof process.versions.electron]);`;

test.for([
  ['of a file', 'new Worker(file)'],
  ['of a file, with options of Node of its own', "new Worker(file, { execArgv: ['--no-warnings'] })"],
  ['of a file, without options of Node', 'new Worker(file, { execArgv: [] })'],
  ['of text', "new Worker(fs.readFileSync(file, 'utf8'), { eval: true })"],
  [
    'of text, without options of Node',
    "new Worker(fs.readFileSync(file, 'utf8'), { eval: true, execArgv: [] })",
  ],
] as const)('a thread %s has BoringSSL', async ([, start]) => {
  const app = new ProbeApp(
    {
      main: `
        import fs from 'node:fs';
        import path from 'node:path';
        import { once } from 'node:events';
        import { Worker } from 'node:worker_threads';
        import { app } from 'electron';
        import { note } from './tools.mjs';
        const file = path.join(import.meta.dirname, 'thread.cjs');
        const [answer] = await once(${start}, 'message');
        note('answer', answer);
        app.exit(0);`,
    },
    electronOnChromium,
  );
  onTestFinished(() => app.remove());
  app.write('thread.cjs', asks);
  const run = app.start();
  expect(await run.ended, run.printed()).toBe(0);
  expect(app.notes()).toEqual([['answer', ['Unknown cipher', 'string']]]);
});
