import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { onTestFinished } from 'vitest';

/** A folder that is gone when the test is. */
export function tempFolder(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tokendesk-test-'));
  onTestFinished(() => {
    fs.rmSync(folder, { recursive: true, force: true });
  });
  return folder;
}

/** A built window of two files, and a file beside it that is not of the bundle. */
export function tinyBundle(): string {
  const folder = tempFolder();
  const renderer = path.join(folder, 'renderer');
  fs.mkdirSync(path.join(renderer, 'assets'), { recursive: true });
  fs.writeFileSync(
    path.join(renderer, 'index.html'),
    '<!doctype html><title>Tokendesk</title><script type="module" src="./assets/probe.js"></script>',
  );
  fs.writeFileSync(path.join(renderer, 'assets', 'probe.js'), 'globalThis.probed = true;');
  fs.writeFileSync(path.join(renderer, 'notes.bin'), 'not served');
  fs.writeFileSync(path.join(folder, 'secret.json'), '{"canary":true}');
  return renderer;
}
