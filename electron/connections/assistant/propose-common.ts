import type { CallExample } from '../../parsing/service-examples/example.ts';
import { madeUp } from '../../parsing/service-examples/openapi.ts';
import { headers as fixedHeaders, isSecretHeader } from '../../service/profile-fields.ts';
import { isOpenName } from './example-secrets.ts';
import { evidence, isFlag, type Context } from './proposal.ts';
import { portalSubjects, type Subject } from './roles.ts';
import { leavesOf } from './sample-values.ts';

/** Set by whoever sends, and of no service. */
const usualHeaders =
  /^(?:accept|accept-(?:encoding|language|charset)|user-agent|host|connection|content-length|cache-control|pragma|postman-token|origin|referer|x-printpretty|x-requestid|x-request-id|traceparent|date|dnt|sec-.*)$/i;

/**
 * Headers that every example has with the same value, where their names speak of what a profile may hold and their values
 * are nothing that the examples have as a secret. All others are named, and a person decides.
 */
export function proposeHeaders({ collect, secrets }: Context, examples: readonly CallExample[]): void {
  const counts = new Map<string, { name: string; values: Set<string>; count: number }>();
  for (const { headers } of examples)
    for (const [name, value] of headers) {
      const known = counts.get(name.toLowerCase()) ?? { name, values: new Set(), count: 0 };
      known.values.add(value);
      known.count += 1;
      counts.set(name.toLowerCase(), known);
    }
  const found: Record<string, string> = {};
  for (const { name, values, count } of counts.values()) {
    const [value = ''] = values;
    if (usualHeaders.test(name) || (/^content-type$/i.test(name) && /^application\/json/i.test(value)))
      continue;
    if (count < examples.length && count < 2) continue;
    const isSecret = isSecretHeader(name) || [...values].some((one) => secrets.holds(one));
    const isFit = fixedHeaders.safeParse({ [name]: value }).success && value !== madeUp;
    if (isSecret) collect.remark(null, 'secret-in-header', name);
    else if (values.size === 1 && isFit && (isOpenName(name) || /^content-type$/i.test(name)))
      found[name] = value;
    else if (value !== '') collect.remark(null, 'header-left', name);
  }
  if (Object.keys(found).length > 0)
    collect.change(
      ['headers'],
      found,
      evidence(
        'headers',
        Object.entries(found)
          .map(([name, value]) => `${name}: ${value}`)
          .join(', '),
        'profile',
      ),
    );
}

/** A flag that each answer has. */
export function proposeSuccess({ collect }: Context, examples: ReadonlyMap<Subject, CallExample>): void {
  const answers = [...examples].filter(
    ([subject, { answer }]) => !portalSubjects.some((one) => one === subject) && answer !== undefined,
  );
  if (answers.length < 3) return;
  const flags = answers.map(([, { answer }]) => {
    const leaves = leavesOf(answer).filter(({ path }) => !path.includes('[]'));
    return leaves.filter((leaf) => isFlag(leaf, leaves));
  });
  const common = flags[0]?.find((leaf) =>
    flags.every((others) =>
      others.some(({ path, value }) => path.join('.') === leaf.path.join('.') && value === leaf.value),
    ),
  );
  if (common === undefined) return;
  const name = common.path.join('.');
  collect.change(
    ['success'],
    { member: name, values: [common.value] },
    evidence(name, common.value, 'profile'),
  );
}
