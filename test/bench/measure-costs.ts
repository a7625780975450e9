import { join } from 'node:path';
import { Agent, request } from 'undici';
import type { Figure, Measure } from './figures.ts';
import { runPart, runProduct, withEcho } from './parts.ts';
import { writeTable } from './table.ts';

const rows = 1_000_000;
const valueBytes = 16;
const maxElements = 500;

interface Wire {
  readonly requests: number;
  readonly toService: number;
  readonly fromService: number;
}

interface Costs {
  readonly ours: number;
  readonly least: number;
  readonly why: string;
}

/**
 * What a row costs, and the least that it could: of processor and wire what the bare loop takes, which checks and keeps
 * nothing; of the disk the bytes of the result; of requests as many as the service's limit of elements asks for.
 */
export const measureCosts: Measure = (folder) =>
  withEcho(async (url, ca) => {
    const input = join(folder, 'costs.csv');
    await writeTable(input, rows);
    const dispatcher = new Agent({ connect: { ca } });
    const wire = async (): Promise<Wire> => (await (await request(url, { dispatcher })).body.json()) as Wire;
    const start = await wire();
    const bare = await runPart<{ cpuMs: number }>('bare-loop.ts', input, join(folder, 'bare.csv'), url, ca);
    const between = await wire();
    const ours = await runProduct(rows, input, { url, ca, audited: true });
    const end = await wire();
    await dispatcher.close();
    const sent = (from: Wire, to: Wire): number =>
      to.toService + to.fromService - from.toService - from.fromService;
    const cost = (name: string, unit: string, costs: Costs): Figure => ({
      name: `${name} a row`,
      value: costs.ours,
      unit,
      ratio: costs.ours / costs.least,
      reference: costs.why,
      note: `at least ${costs.least.toPrecision(3)}: ${costs.why}`,
    });
    const thousand = (count: number): number => (count / rows) * 1_000;
    return [
      cost('processor', 'µs', {
        ours: (ours.cpuMs * 1_000) / rows,
        least: (bare.cpuMs * 1_000) / rows,
        why: 'the bare loop',
      }),
      cost('on the wire', 'bytes, TLS and all', {
        ours: sent(between, end) / rows,
        least: sent(start, between) / rows,
        why: 'the bare loop',
      }),
      cost('on the disk', 'bytes', { ours: ours.diskBytes / rows, least: valueBytes, why: 'the value' }),
      cost('requests, of 1,000', 'requests', {
        ours: thousand(end.requests - between.requests),
        least: 1_000 / maxElements,
        why: `${maxElements} elements each`,
      }),
      cost('syncs, of 1,000', 'syncs', {
        ours: thousand(ours.syncs),
        least: 1_000 / maxElements,
        why: 'one for each request, which a line of the log waits for',
      }),
    ];
  });
