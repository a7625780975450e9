import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openHarness } from './harness.ts';

/** From choosing a file to its first rows, and how far the counting behind it is by then. */
const [input = ''] = process.argv.slice(2);
const home = await mkdtemp(join(tmpdir(), 'tokendesk-bench-'));
const harness = await openHarness({ home, output: '', url: 'https://127.0.0.1:9', ca: '', inFlight: 8 });
const started = performance.now();
const sourceId = await harness.source(input);
const preview = await harness.batch['batch.preview']({ sourceId, reading: {}, masked: null });
const ms = performance.now() - started;
const rows = preview.ok ? preview.value.rows.length : 0;
await harness.close();
await rm(home, { recursive: true, force: true });
process.stdout.write(`${JSON.stringify({ ms, rows })}\n`);
