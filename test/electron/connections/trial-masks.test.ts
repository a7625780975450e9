import { describe, expect, test } from 'vitest';
import { createWire, tryProfile } from '../../../electron/connections/assistant/try-profile.ts';
import type { DefinitionKind } from '../../../electron/contract/models/connection.ts';
import type { Transport } from '../../../electron/service/http/transport.ts';
import { readProfile } from '../../../electron/service/profile.ts';
import { createClientSide } from '../../faults/client-side.ts';

const session = 'SESS-qwXyz-abc';

interface Asked {
  readonly operation: string;
  readonly body: Record<string, unknown>;
}
interface Answered {
  readonly status?: number;
  readonly body: unknown;
}
/** Undefined where the service answers as it should. */
type Service = (asked: Asked) => Answered | undefined;

/** What the window is shown of a trial. */
async function trial(service: Service, value = '4111111111111111', kind: DefinitionKind = 'card') {
  const profile = readProfile('{"version":1}');
  if (!profile.ok) throw new Error('no profile');
  const wire = createWire();
  const transport: Transport = wire.watch({
    open: () => Promise.reject(new Error('not used')),
    reset: () => Promise.resolve(),
    close: () => Promise.resolve(),
    send({ path }, json) {
      const operation = path.split('/').at(-1) ?? '';
      const body = JSON.parse(json ?? '{}') as Record<string, unknown>;
      const rows = body['elements'] as { RefId: string }[] | undefined;
      const given = operation === 'createsession' ? { sessionToken: session } : { token: 'tok-1' };
      const usual = rows ? { elements: rows.map(({ RefId }) => ({ RefId, Value: 'tok-1' })) } : given;
      const { status = 200, body: answer } = service({ operation, body }) ?? { body: usual };
      const reply = { status, headers: {}, body: Buffer.from(JSON.stringify(answer)) };
      return Promise.resolve({ ok: true, reply });
    },
  });
  const { client } = createClientSide({ profile: profile.value, transport });
  const trialled = { client, profile: profile.value, wire, policy: 'p', definition: 'd', kind, value };
  const { steps } = await tryProfile(trialled);
  await client.close();
  return steps;
}

/** Detokenize, its batch and PatternMatch answer with this. */
const revealing =
  (clear: unknown): Service =>
  ({ operation, body }) => {
    if (!/detokenize|patternmatch/.test(operation)) return undefined;
    const rows = body['elements'] as { RefId: string }[] | undefined;
    return {
      body: rows ? { elements: rows.map(({ RefId }) => ({ RefId, Value: clear })) } : { value: clear },
    };
  };
const answering =
  (answer: Answered): Service =>
  ({ operation }) =>
    operation === 'createsession' ? undefined : answer;

describe('a trial shows no value in clear', () => {
  test.each<[string, unknown, string, Exclude<DefinitionKind, 'email'>]>([
    ['an SSN as a number', 78051120, '078051120', 'ssn'],
    ['a PIN as a number', 4711, '4711', 'text'],
    ['a day as a number', 19840213, '19840213', 'text'],
    ['an amount', 1234567.25, '1234567.25', 'text'],
    ['another address with a #', 'Flat #4, 221b Baker Street', 'Mill Road 7', 'text'],
    ['a name behind a star', '* jane doe', 'Jane Doe', 'text'],
    ['a value with dots', 'Jane •• Doe', 'Jane Doe', 'text'],
  ])('%s', async (_, clear, value, kind) => {
    const held = /78051120|4711|19840213|1234567|Baker|Mill|Jane|Doe/i;
    for (const step of await trial(revealing(clear), value, kind))
      expect(JSON.stringify(step)).not.toMatch(held);
  });

  test('that is the name of a member', async () => {
    const steps = await trial(
      ({ operation }) => (operation === 'detokenize' ? { body: { 'Jane Doe': true, Smith: 1 } } : undefined),
      'Smith',
      'text',
    );
    const shown = JSON.stringify(steps);
    expect(shown).not.toContain('Jane');
    expect(shown).not.toContain('Smith');
  });

  test('and a mask of the service’s only where GetMasked has it', async () => {
    const mask = '411111******1111';
    const steps = await trial(({ operation }) =>
      operation === 'getmasked' || operation === 'detokenize'
        ? { body: { maskedValue: mask, value: mask, other: '* Jane Doe' } }
        : undefined,
    );
    const of = (name: string) => steps.find(({ operation }) => operation === name);
    expect(of('GetMasked')?.understood).toBe(mask);
    expect(of('GetMasked')?.answer).toContain(mask);
    expect(of('Detokenize')?.answer).not.toContain(mask);
    expect(JSON.stringify(steps)).not.toContain('Jane');
  });
});

describe('a trial shows nothing that signs in', () => {
  test.each<[string, Answered]>([
    ['in the text of a failure', { status: 401, body: { errors: `session ${session} has ended` } }],
    ['written otherwise', { status: 401, body: { errors: 'session sess qwxyz abc has ended' } }],
    [
      'in a failure’s fields',
      { status: 400, body: { errors: { code: ['X'], Validation: [`${session} is invalid`] } } },
    ],
    ['as a member’s name', { body: { token: 'tok-1', [session]: 1 } }],
    ['beside an answer', { body: { token: 'tok-1', sessionToken: session } }],
  ])('a session %s', async (_, answer) => {
    expect(JSON.stringify(await trial(answering(answer)))).not.toMatch(/qwXyz/i);
  });

  test('a session with a # that another answer repeats', async () => {
    const own = 'SESS#qwXyz-abc';
    const steps = await trial(({ operation }) => ({
      body: operation === 'createsession' ? { sessionToken: own } : { token: 'tok-1', sessionToken: own },
    }));
    expect(JSON.stringify(steps)).not.toContain('qwXyz');
  });

  test('a session that is a number', async () => {
    const steps = await trial(({ operation }) =>
      operation === 'createsession'
        ? { body: { sessionToken: 'a', sid: 12345678 } }
        : { status: 401, body: { errors: 'session 12345678 has ended' } },
    );
    expect(JSON.stringify(steps)).not.toContain('12345678');
  });
});
