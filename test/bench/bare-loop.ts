import { createReadStream, createWriteStream } from 'node:fs';
import { once } from 'node:events';
import Papa from 'papaparse';
import { Pool } from 'undici';
import { cpuMs, peakMemory } from './figures.ts';

/**
 * The least that anyone would write: PapaParse's chunks, requests of 500 elements with 8 in flight, answers joined as
 * strings. No checks, no journal, nothing encrypted, results in the order they come.
 */
const [input = '', output = '', url = '', ca = ''] = process.argv.slice(2);
const pool = new Pool(url, { connections: 8, connect: { ca } });
const out = createWriteStream(output);
const inFlight = new Set<Promise<void>>();
let rows: string[][] = [];
let sent = 0;

async function send(part: readonly string[][]): Promise<void> {
  const elements = part.map((row, i) => ({ RefId: String(i), Value: row[1] }));
  const { body } = await pool.request({
    method: 'POST',
    path: '/api/services/evtservice/batchdetokenize',
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify({ sessionToken: 'bench', tokenName: 'card', elements })),
  });
  const answer = JSON.parse(await body.text()) as { elements: { Value: string }[] };
  let text = '';
  part.forEach((row, i) => {
    row[1] = answer.elements[i]?.Value ?? '';
    text += `${row.join(',')}\r\n`;
  });
  sent += part.length;
  if (!out.write(text)) await once(out, 'drain');
}

async function dispatch(part: readonly string[][]): Promise<void> {
  while (inFlight.size >= 8) await Promise.race(inFlight);
  const sending = send(part).finally(() => inFlight.delete(sending));
  inFlight.add(sending);
}

const started = performance.now();
const cpuBefore = process.cpuUsage();
await new Promise<void>((resolve, reject) => {
  Papa.parse<string[]>(createReadStream(input, { encoding: 'utf8' }), {
    delimiter: ',',
    newline: '\r\n',
    chunk({ data }, parser) {
      rows = rows.concat(data);
      if (rows.length < 500) return;
      parser.pause();
      void (async () => {
        while (rows.length >= 500) await dispatch(rows.splice(0, 500));
        parser.resume();
      })().catch(reject);
    },
    complete: () => resolve(),
    error: reject,
  });
});
if (rows.length > 0) await dispatch(rows);
await Promise.all(inFlight);
out.end();
await once(out, 'close');
await pool.close();
const figures = {
  rows: sent,
  ms: performance.now() - started,
  cpuMs: cpuMs(process.cpuUsage(cpuBefore)),
  peakRss: peakMemory(),
};
process.stdout.write(`${JSON.stringify(figures)}\n`);
