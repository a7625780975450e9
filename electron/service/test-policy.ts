import { done, type Failure, type Outcome } from '../contract/errors.ts';
import type { PolicyGrants } from '../contract/models/connection.ts';
import { isBatchOperation, operationNames, type Operation } from '../contract/operations.ts';
import { batchCall, type CallContext, type ServiceClient } from './service-client.ts';

type Sent = Promise<Outcome<{ readonly requestId: string }>>;

interface TestPolicyOptions {
  readonly client: Pick<
    ServiceClient,
    'openSession' | 'tokenize' | 'detokenize' | 'getMasked' | 'translate' | 'batch'
  >;
  readonly policy: string;
  readonly definitions: readonly string[];
  /** Writes the line of one request, which `send` lets out only after it. */
  readonly record: (definition: string, operation: Operation, send: () => Sent) => Sent;
  readonly now: () => Date;
}

/** What the service said to one request. */
type Finding = 'allowed' | 'refused' | 'invalid' | 'no-definition' | 'missing' | 'no-session' | 'unknown';

/**
 * Finds out what a policy may do. The service has no operation that tells (spec §4), so each one is asked for with an
 * empty value, which is no token and no value of anybody. A refusal is certain, and so is an answer. An empty value that
 * is called invalid proves the permission only where the same policy was refused something else: then the service looks
 * at the permission before the value. Without that it stays unknown, as does what was neither refused nor answered.
 *
 * Failures: those of `openSession`; audit.*; the first failure that says nothing about a permission (network, quota);
 * service.credentials where no operation took the session.
 */
export async function testPolicy(options: TestPolicyOptions): Promise<Outcome<PolicyGrants>> {
  const { client, policy, definitions, now } = options;
  const session = await client.openSession(policy);
  if (!session.ok) return session;
  const found: { definition: string; findings: Map<Operation, Finding> }[] = [];
  let noSession: Failure | null = null;
  for (const definition of definitions) {
    const all = await Promise.all(
      operationNames.map(async (one) => [one, await ask(options, definition, one)] as const),
    );
    const findings = new Map<Operation, Finding>();
    for (const [one, asked] of all) {
      if (!asked.ok) return asked;
      findings.set(one, asked.value.finding);
      if (asked.value.finding === 'no-session') noSession = asked.value.failure;
    }
    found.push({ definition, findings });
  }
  const every = found.flatMap(({ findings }) => [...findings.values()]);
  if (noSession !== null && every.every((finding) => finding === 'no-session'))
    return { ok: false, failure: noSession };
  const isPermissionFirst = every.includes('refused');
  return done({
    policy,
    testedAt: now().toISOString(),
    definitions: found.map(({ definition, findings }) => {
      const all = [...findings];
      const having = (...wanted: Finding[]) =>
        all.filter(([, one]) => wanted.includes(one)).map(([one]) => one);
      return {
        definition,
        known: having('no-definition').length === 0,
        allowed: isPermissionFirst ? having('allowed', 'invalid') : having('allowed'),
        refused: having('refused'),
        ...(having('missing').length > 0 && { missing: having('missing') }),
      };
    }),
  });
}

async function ask(
  options: TestPolicyOptions,
  definition: string,
  one: Operation,
): Promise<Outcome<{ finding: Finding; failure: Failure | null }>> {
  const outcome = await options.record(definition, one, () => send(options, definition, one));
  if (outcome.ok) return done({ finding: 'allowed', failure: null });
  const { failure } = outcome;
  const finding = findingOf(failure);
  return finding === null ? outcome : done({ finding, failure });
}

/** The line of the test stands for the request. What is answered is dropped here. */
async function send({ client, policy }: TestPolicyOptions, definition: string, one: Operation): Sent {
  const context: CallContext = { act: { sent: false } };
  const target = { policy, definition };
  if (isBatchOperation(one)) {
    const call = batchCall(one, { policy, definition, target, pattern: '^$' });
    return client.batch(call, [{ ref: '0', value: '' }], context);
  }
  switch (one) {
    case 'Tokenize':
      return client.tokenize(policy, definition, '', context);
    case 'Detokenize':
      return client.detokenize(policy, definition, '', context);
    case 'GetMasked':
      return client.getMasked(policy, definition, '', context);
    case 'Translate':
      return client.translate(policy, definition, { token: '', target }, context);
  }
}

const definitionMembers = ['tokenname', 'sourcetokenname', 'targettokenname'];

/** Null where the failure says nothing about the permission. */
function findingOf({ code, fields, members }: Failure): Finding | null {
  switch (code) {
    case 'service.refused':
      return 'refused';
    case 'service.invalid-input': {
      const names = (fields ?? []).map(({ name }) => name.toLowerCase());
      return names.some((name) => definitionMembers.includes(name)) ? 'no-definition' : 'invalid';
    }
    case 'service.element-refused':
    case 'service.value-invalid':
    case 'service.value-too-long':
    case 'service.token-invalid':
      return 'invalid';
    case 'service.not-found':
      return 'missing';
    // It answered, with what can be no result of a value: with the empty one that it was sent, for example.
    case 'service.echoed-value':
    case 'service.empty-value':
    case 'service.blank-value':
    case 'service.nul-value':
    case 'service.long-value':
    case 'service.broken-value':
      return 'allowed';
    // The sign-in was taken, and the session it gave was not.
    case 'service.credentials':
      return 'no-session';
    // An answer, but of something else than the permission.
    case 'service.definition-disabled':
    case 'service.too-large':
    case 'service.mismatched-answer':
      return 'unknown';
    // Members that the profile doesn't know are worth more than a grid: the person is shown them.
    case 'service.unexpected-answer':
      return members === undefined || members.length === 0 ? 'unknown' : null;
    default:
      return null;
  }
}
