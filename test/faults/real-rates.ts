import assert from 'node:assert/strict';
import { slidingLimiter } from './limiters.ts';
import { assertAll, call, tokens, type Row } from './row.ts';
import { withServer } from './with-server.ts';

const SECONDS = 10;

function rate(allowed: number, rateHeaders: boolean): Row {
  return {
    fault: `a service that allows ${allowed} requests a second${rateHeaders ? '' : ' and does not say so'}`,
    expected: 'achieved within a tenth, no call fails',
    run: () =>
      withServer(
        async (server, { client }) => {
          const elements = tokens(2);
          const start = performance.now();
          const end = start + SECONDS * 1000;
          const worker = async (): Promise<void> => {
            while (performance.now() < end) assertAll(await client.batch(call, elements, {}), elements);
          };
          await Promise.all(Array.from({ length: 16 }, worker));
          const { admitted } = server.service;
          const achieved = admitted.filter((at) => at < end).length / SECONDS;
          assert.ok(Math.abs(achieved - allowed) <= allowed / 10, `${achieved} a second`);
          assert.ok(server.hits.length / (admitted.length - 1) < 1.1, 'too many were refused');
        },
        { server: { limiter: slidingLimiter(allowed), rateHeaders } },
      ),
  };
}

/** In real time over real HTTPS; the same in fake time, for every way of counting, is in the unit tests. */
export const realRates: { readonly part: string; readonly rows: readonly Row[] } = {
  part: 'achieved rates',
  rows: [rate(5, true), rate(50, true), rate(600, true), rate(50, false)],
};
