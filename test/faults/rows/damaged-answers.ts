import assert from 'node:assert/strict';
import { send } from '../fault-server.ts';
import { clearOf } from '../model-service.ts';
import { assertAll, assertFailed, call, tokens, type Row } from '../row.ts';
import { onOperations, withServer } from '../with-server.ts';

interface Sent {
  readonly RefId: string;
  readonly Value: string;
}
const sentIn = (json: Record<string, unknown>): Sent[] => json.elements as Sent[];
const solved = (json: Record<string, unknown>): Sent[] =>
  sentIn(json).map(({ RefId, Value }) => ({ RefId, Value: clearOf(Value) ?? '' }));

export const damagedAnswers: readonly Row[] = [
  {
    fault: 'reset mid-body',
    expected: 'discard the whole answer, retry',
    run: () =>
      withServer(async (server, { client }) => {
        server.script = onOperations((hit, response, model) => {
          if (hit.nth > 1) {
            model();
            return;
          }
          const text = JSON.stringify({ elements: solved(hit.json) });
          response.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length });
          response.write(text.slice(0, -10), () => response.destroy());
        });
        const elements = tokens(20);
        assertAll(await client.batch(call, elements, {}), elements);
        assert.equal(server.count('batchdetokenize'), 2);
      }),
  },
  {
    fault: 'close-delimited truncation',
    expected: 'does not parse: retry; never a partial accept',
    run: () =>
      withServer(async (server, { client }) => {
        server.script = onOperations((hit, response, model) => {
          if (hit.nth > 1) {
            model();
            return;
          }
          const text = JSON.stringify({ elements: solved(hit.json) });
          // Without a length or chunks, the end of the connection is the end of the answer.
          response.socket?.end(
            `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n${text.slice(0, -25)}`,
          );
        });
        const elements = tokens(20);
        assertAll(await client.batch(call, elements, {}), elements);
        assert.equal(server.count('batchdetokenize'), 2);
      }),
  },
  {
    fault: '200 with HTML',
    expected: 'taken for a proxy or captive portal; nothing of the body told; no retry',
    run: () =>
      withServer(async (server, { client }) => {
        let type = 'text/html';
        server.script = onOperations((_hit, response) => {
          send(response, 200, '<html>captive portal</html>', { 'content-type': type });
        });
        assertFailed(await client.batch(call, tokens(3), {}), 'service.not-json');
        type = 'application/json';
        assertFailed(await client.batch(call, tokens(3), {}), 'service.not-json');
        assert.equal(server.count('batchdetokenize'), 2);
      }),
  },
  {
    fault: 'invalid or truncated JSON',
    expected: 'two retries, then a failure that the batch bisects',
    run: () =>
      withServer(async (server, { client }) => {
        server.script = onOperations((_hit, response) => send(response, 200, '{"elements":[{"RefId":"r'));
        assertFailed(await client.batch(call, tokens(3), {}), 'service.mismatched-answer');
        assert.equal(server.count('batchdetokenize'), 3);
      }),
  },
  {
    fault: 'bytes that are not UTF-8',
    expected: 'the same as invalid JSON: no value is silently changed',
    run: () =>
      withServer(async (server, { client }) => {
        server.script = onOperations((_hit, response) => {
          response.writeHead(200, { 'content-type': 'application/json' });
          response.end(Buffer.from('{"elements":[{"RefId":"ref-0","Value":"\xe9"}]}', 'latin1'));
        });
        assertFailed(await client.batch(call, tokens(1), {}), 'service.mismatched-answer');
      }),
  },
  {
    fault: 'wrong element count',
    expected: 'reject; never positional',
    run: () =>
      withServer(async (server, { client }) => {
        server.script = onOperations((hit, response) => {
          const elements = solved(hit.json);
          send(response, 200, { elements: [...elements, { RefId: 'foreign', Value: 'x' }] });
        });
        assertFailed(await client.batch(call, tokens(5), {}), 'service.mismatched-answer');
        server.script = onOperations((hit, response) => {
          send(response, 200, { elements: solved(hit.json).map(({ Value }) => ({ Value })) });
        });
        assertFailed(await client.batch(call, tokens(5), {}), 'service.mismatched-answer');
      }),
  },
  {
    fault: 'duplicate RefId',
    expected: 'reject, even if identical',
    run: () =>
      withServer(async (server, { client }) => {
        server.script = onOperations((hit, response) => {
          const elements = solved(hit.json);
          send(response, 200, { elements: [...elements, elements[0]] });
        });
        assertFailed(await client.batch(call, tokens(5), {}), 'service.mismatched-answer');
        server.script = onOperations((hit, response) => {
          const elements = solved(hit.json);
          send(response, 200, { elements: [elements[0], ...elements.slice(0, -1)] });
        });
        assertFailed(await client.batch(call, tokens(5), {}), 'service.mismatched-answer');
      }),
  },
  {
    fault: 'missing RefId',
    expected: 'retry the missing once, then a row error',
    run: () =>
      withServer(async (server, { client }) => {
        const elements = tokens(10);
        const lost = new Set(['ref-3', 'ref-7']);
        server.script = onOperations((hit, response, model) => {
          if (hit.nth > 1) {
            model();
            return;
          }
          send(response, 200, { elements: solved(hit.json).filter(({ RefId }) => !lost.has(RefId)) });
        });
        assertAll(await client.batch(call, elements, {}), elements);
        assert.deepEqual(
          server.hits.slice(1).map(({ json }) => sentIn(json).length),
          [10, 2],
        );
        server.script = onOperations((hit, response) => {
          send(response, 200, { elements: solved(hit.json).filter(({ RefId }) => !lost.has(RefId)) });
        });
        const outcome = await client.batch(call, elements, {});
        assert.ok(outcome.ok);
        assert.equal(outcome.value.elements.length, 10);
        assert.deepEqual(
          outcome.value.elements.filter(({ ok }) => !ok),
          [...lost].map((ref) => ({ ref, ok: false, code: 'service.mismatched-answer' })),
        );
        assert.equal(server.count('batchdetokenize'), 4);
      }),
  },
  {
    fault: 'shuffled order',
    expected: 'accept by RefId; the order given comes out',
    run: () =>
      withServer(async (server, { client }) => {
        server.script = onOperations((hit, response) => {
          send(response, 200, { elements: solved(hit.json).reverse() });
        });
        const elements = tokens(51);
        assertAll(await client.batch(call, elements, {}), elements);
      }),
  },
  {
    fault: 'unknown members',
    expected: 'ignored, never told',
    run: () =>
      withServer(async (server, { client }) => {
        server.script = onOperations((hit, response) => {
          const elements = solved(hit.json).map((element) => ({ ...element, captive: 'x', kind: 'NewKind' }));
          send(response, 200, { elements, captive: { portal: 1 }, warnings: ['captive'] });
        });
        const elements = tokens(5);
        assertAll(await client.batch(call, elements, {}), elements);
      }),
  },
];
