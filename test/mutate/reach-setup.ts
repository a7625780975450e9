/*
 * Loaded before each test file of a run that `reach.ts` starts: writes which functions of the app the file has called.
 */
import fs from 'node:fs';
import inspector from 'node:inspector';
import path from 'node:path';
import { afterAll, expect } from 'vitest';

const folder = process.env['TOKENDESK_REACH'];
const mark = Symbol.for('tokendesk reach');
const worker = globalThis as typeof globalThis & { [mark]?: inspector.Session };

if (folder !== undefined) {
  if (worker[mark] === undefined) {
    const session = new inspector.Session();
    session.connect();
    session.post('Profiler.enable');
    session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    worker[mark] = session;
  }
  const root = process.cwd();
  afterAll(() => {
    const { testPath } = expect.getState();
    if (testPath === undefined) return;
    worker[mark]?.post('Profiler.takePreciseCoverage', (error, taken) => {
      if (error !== null) return;
      const called: Record<string, string[]> = {};
      for (const { url, functions } of taken.result) {
        const file = path.relative(root, url.replace(/^file:\/\//, '').replace(/\?.*$/, ''));
        if (!file.startsWith('electron/')) continue;
        const names = functions.filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0);
        called[file] = [
          ...new Set([...(called[file] ?? []), ...names.map(({ functionName }) => functionName)]),
        ];
      }
      const test = path.relative(root, testPath);
      fs.writeFileSync(
        path.join(folder, `${test.replaceAll('/', '+')}.json`),
        JSON.stringify({ test, called }),
      );
    });
  });
}
