import { isBatchOperation, isOperation, operationInfo, type Operation } from '../../contract/operations.ts';
import { isObject, type CallExample } from '../../parsing/service-examples/example.ts';
import { operations, type OperationName, type Parameter } from '../../service/operations.ts';
import { namesCleartext, type ServiceProfile } from '../../service/profile.ts';
import { decodeSegment, type ExampleSecrets } from './example-secrets.ts';
import { proposeHeaders, proposeSuccess } from './propose-common.ts';
import { proposeBatchAnswer } from './propose-elements.ts';
import { proposeReport } from './propose-report.ts';
import {
  evidence,
  pickLeaf,
  relative,
  valueInPath,
  type Change,
  type Collector,
  type Context,
  type Proposal,
  type Remark,
} from './proposal.ts';
import { answerNames, parameterNames, portalSubjects, scoreOf, sideOf, type Subject } from './roles.ts';
import { isReal, leavesOf, type SampleValues } from './sample-values.ts';

interface ProposeOptions {
  readonly profile: ServiceProfile;
  readonly examples: ReadonlyMap<Subject, CallExample>;
  readonly samples: SampleValues;
  readonly secrets: ExampleSecrets;
  /** Path of the connection's address. */
  readonly basePath: string;
}

/**
 * What the profile must say so that the calls of the examples are sent and read as they were written down. Names and what
 * members hold decide; what is not understood is remarked, and stays as the profile has it.
 */
export function propose({ profile, examples, samples, secrets, basePath }: ProposeOptions): Proposal {
  const changes = new Map<string, Change>();
  const remarks: Remark[] = [];
  const collect: Collector = {
    change(path, value, from = null, isSure = true) {
      const key = path.join('\n');
      // A member may be called by a value: `{"Jane Doe": …}`.
      if ([value].flat().some((one) => typeof one === 'string' && secrets.is(one))) {
        collect.remark(null, 'value-as-name', path.join('.'));
        return;
      }
      const before = changes.get(key);
      // One profile for all operations: the last that was said is kept, and never silently.
      const isOther = before !== undefined && !isSameOrMore(before.value, value);
      if (isOther) collect.remark(null, 'conflict', path.join('.'));
      changes.set(key, { path, value, from, isSure: isSure && !isOther });
    },
    remark(subject, kind, names = '') {
      const remark = { subject, kind, names: secrets.hideNames(names).slice(0, 300) };
      const isKnown = remarks.some(
        (one) => one.subject === subject && one.kind === kind && one.names === remark.names,
      );
      if (!isKnown) remarks.push(remark);
    },
  };
  const context: Context = {
    profile,
    samples,
    secrets,
    collect,
    prefix: prefixOf(profile, examples, basePath),
    added: new Map(),
  };
  for (const [subject, example] of examples) {
    if (portalSubjects.some((one) => one === subject)) proposeReport(context, subject, example);
    else proposeOperation(context, subject as OperationName, example);
  }
  proposeHeaders(context, [...examples.values()]);
  proposeSuccess(context, examples);
  return { changes: [...changes.values()], remarks };
}

/** The same, or a list with all that there was. */
function isSameOrMore(before: unknown, value: unknown): boolean {
  if (JSON.stringify(before) === JSON.stringify(value)) return true;
  if (!Array.isArray(before) || !Array.isArray(value)) return false;
  return before.every((one) => value.includes(one));
}

/** An example's path begins with what the connection's address ends with. */
function prefixOf(
  profile: ServiceProfile,
  examples: ReadonlyMap<Subject, CallExample>,
  basePath: string,
): string {
  for (const name of ['CreateSession', 'Tokenize'] as const) {
    const path = examples.get(name)?.path ?? '';
    const own = profile.operations[name].path;
    if (path.toLowerCase().endsWith(own.toLowerCase())) return path.slice(0, path.length - own.length);
  }
  const base = basePath.replace(/\/$/, '');
  return base !== '' && [...examples.values()].every(({ path }) => path.startsWith(`${base}/`)) ? base : '';
}

function proposeOperation(context: Context, name: OperationName, example: CallExample): void {
  const { collect } = context;
  const { method } = example;
  const path = relative(context, example.path);
  const isFixed = name === 'CreateSession' || name === 'Tokenize';
  const own = context.profile.operations[name].path;
  if (isFixed && path !== '' && path.toLowerCase() !== own) collect.remark(name, 'path-fixed', path);
  if (path === '' && !isFixed) collect.remark(name, 'path-unknown');
  if (method === 'POST' || method === 'PUT') {
    if (!isFixed)
      collect.change(['operations', name, 'method'], method, evidence('method', method, 'profile'));
    else if (method !== 'POST') collect.remark(name, 'method', method);
  } else if (method !== '') collect.remark(name, 'method', method);
  if (example.request === undefined) collect.remark(name, 'request-missing');
  else proposeRequest(context, name, example, path);
  if (example.answer === undefined || example.answer === null) collect.remark(name, 'answer-missing');
  else if (isOperation(name) && isBatchOperation(name)) proposeBatchAnswer(context, name, example);
  else proposeSingleAnswer(context, name, example);
}

interface Candidate {
  readonly place: 'body' | 'query' | 'path';
  readonly name: string;
  readonly value: unknown;
}

const addressed = ['tokenName', 'sourceTokenName', 'targetTokenName'] as const;
const secretParameters: readonly string[] = [
  'apiKey',
  'policyPassword',
  'sessionToken',
  'sourceSessionToken',
  'targetSessionToken',
];

function proposeRequest(context: Context, name: OperationName, example: CallExample, path: string): void {
  const { collect, samples } = context;
  const { parameters } = operations[name];
  const body = isObject(example.request) ? example.request : {};
  const candidates: Candidate[] = [
    ...Object.entries(body).map(([own, value]) => ({ place: 'body' as const, name: own, value })),
    ...example.query.map(([own, value]) => ({ place: 'query' as const, name: own, value })),
    ...path
      .split('/')
      .filter((segment) => segment !== '')
      .map((segment) => ({
        place: 'path' as const,
        name: segment,
        value: segment.startsWith('{') ? '' : decodeSegment(segment),
      })),
  ];
  const isFixed = name === 'CreateSession' || name === 'Tokenize';
  const pairs = parameters
    .flatMap((parameter) =>
      candidates.map((one) => ({ parameter, one, score: fit(parameter, one, samples) })),
    )
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score);
  const found = new Map<Parameter, { one: Candidate; isSure: boolean }>();
  const used = new Set<Candidate>();
  for (const { parameter, one, score } of pairs) {
    if (found.has(parameter) || used.has(one)) continue;
    found.set(parameter, { one, isSure: score >= 5 });
    used.add(one);
  }
  leftOver(parameters, candidates, found, used);

  const isAddressed = (parameter: Parameter): boolean =>
    !isFixed && addressed.some((allowed) => allowed === parameter);
  const segments = path.split('/');
  for (const parameter of parameters) {
    const hit = found.get(parameter);
    if (hit === undefined) {
      remarkMissing(context, name, parameter, example);
      continue;
    }
    const { one, isSure } = hit;
    const holds = secretParameters.includes(parameter) ? 'secret' : 'hidden';
    if (one.place === 'body')
      collect.change(
        ['operations', name, 'request', parameter],
        one.name,
        evidence(one.name, parameter === 'elements' ? null : one.value, holds),
        isSure,
      );
    else if (!isAddressed(parameter))
      collect.remark(name, 'value-in-address', one.place === 'path' ? parameter : one.name);
    else if (one.place === 'path') segments[segments.indexOf(one.name)] = `{${parameter}}`;
  }
  const query = Object.fromEntries(
    [...found].flatMap(([parameter, { one }]) =>
      one.place === 'query' && isAddressed(parameter) ? [[one.name, parameter]] : [],
    ),
  );
  if (Object.keys(query).length > 0) collect.change(['operations', name, 'query'], query);
  if (!isFixed && path !== '') {
    // A parameter that is none of the operation's can't be filled in.
    const unknown = segments.filter(
      (one) => one.startsWith('{') && !parameters.some((own) => one === `{${own}}`),
    );
    const held = valueInPath(context, segments.join('/'));
    if (unknown.length > 0) collect.remark(name, 'value-in-address', unknown.join(', '));
    else if (held !== null) collect.remark(name, 'value-in-address', held);
    else
      collect.change(
        ['operations', name, 'path'],
        segments.join('/'),
        evidence('address', segments.join('/'), 'profile'),
      );
  }
  const asked = new Set([...used].filter(({ place }) => place === 'query').map(({ name: own }) => own));
  const fixed = example.query.filter(([own]) => !asked.has(own) && !/^pretty$/i.test(own));
  if (fixed.length > 0) collect.remark(name, 'query-fixed', fixed.map(([own]) => own).join(', '));
  const left = candidates.filter((one) => one.place === 'body' && !used.has(one)).map((one) => one.name);
  if (left.length > 0) collect.remark(name, 'members-left', left.join(', '));
  if (parameters.includes('elements'))
    proposeElements(context, name as Operation, found.get('elements')?.one);
}

const sideOfParameter = (parameter: Parameter): 'source' | 'target' | null =>
  parameter.startsWith('source') ? 'source' : parameter.startsWith('target') ? 'target' : null;

function fit(parameter: Parameter, { place, name, value }: Candidate, samples: SampleValues): number {
  if (Array.isArray(value) !== (parameter === 'elements') || isObject(value)) return 0;
  // A segment of a path is most often a word of its own.
  if (place === 'path' && !name.startsWith('{') && !samples.definitions.has(String(value))) return 0;
  const isName = addressed.some((one) => one === parameter);
  let score = scoreOf(parameterNames[parameter], name);
  const variable = /^(?:\{\{(.+)\}\}|<(.+)>|\$\{?(\w+)\}?)$/.exec(String(value))?.slice(1).find(Boolean);
  if (variable !== undefined) score = Math.max(score, scoreOf(parameterNames[parameter], variable) - 2);
  if (typeof value === 'string' && isReal(value)) {
    if (
      secretParameters.includes(parameter) &&
      parameter !== 'apiKey' &&
      parameter !== 'policyPassword' &&
      samples.sessions.has(value)
    )
      score += 30;
    else if (isName && samples.definitions.has(value)) score += 30;
    else if (isName && samples.common.has(value)) score += 8;
    else if (parameter === 'tokenValue' && samples.tokens.has(value)) score += 30;
    else if (parameter === 'value' && samples.clear.has(value)) score += 30;
    else if (samples.sessions.has(value) || samples.tokens.has(value) || samples.clear.has(value)) score = 0;
  }
  const side = sideOfParameter(parameter);
  if (side !== null && score > 0) {
    const own = sideOf(name) ?? (variable === undefined ? null : sideOf(variable));
    score += own === side ? 6 : own === null ? -1 : -40;
  }
  return score;
}

/** Where one parameter and one text are left they belong together, as long as nothing else is known of it. */
function leftOver(
  parameters: readonly Parameter[],
  candidates: readonly Candidate[],
  found: Map<Parameter, { one: Candidate; isSure: boolean }>,
  used: Set<Candidate>,
): void {
  const open = parameters.filter((parameter) => !found.has(parameter) && parameter !== 'elements');
  const free = candidates.filter(
    (one) => !used.has(one) && one.place === 'body' && typeof one.value === 'string',
  );
  const [parameter] = open;
  const [one] = free;
  if (parameter === undefined || one === undefined || open.length !== 1 || free.length !== 1) return;
  found.set(parameter, { one, isSure: false });
  used.add(one);
}

function remarkMissing(
  { collect }: Context,
  name: OperationName,
  parameter: Parameter,
  example: CallExample,
): void {
  if (parameter.toLowerCase().includes('session')) {
    const header = example.headers.find(([own]) => /auth|session|token|ticket|cookie/i.test(own));
    if (header !== undefined) {
      collect.remark(name, 'session-in-header', header[0]);
      return;
    }
  }
  const nested = isObject(example.request)
    ? Object.keys(example.request).filter((own) => isObject(member(example.request, own)))
    : [];
  if (nested.length > 0) collect.remark(name, 'request-nested', nested.join(', '));
  else collect.remark(name, 'parameter-unclear', parameter);
}

const member = (json: unknown, name: string): unknown => (isObject(json) ? json[name] : undefined);

/** How the elements of a batch are called in the request. */
function proposeElements({ collect, samples }: Context, name: Operation, list: Candidate | undefined): void {
  const [element] = Array.isArray(list?.value) ? (list.value as unknown[]) : [];
  if (!isObject(element)) {
    if (element !== undefined) collect.remark(name, 'elements-without-reference', list?.name ?? '');
    return;
  }
  const texts = Object.entries(element).filter(([, value]) => typeof value !== 'object');
  const takes = operationInfo[name].takes === 'token' ? parameterNames.tokenValue : parameterNames.value;
  const other = takes === parameterNames.value ? parameterNames.tokenValue : parameterNames.value;
  const valueScore = ([own, value]: readonly [string, unknown]): number =>
    Math.max(scoreOf(takes, own), scoreOf(other, own) - 1) +
    (typeof value === 'string' && (samples.tokens.has(value) || samples.clear.has(value)) ? 30 : 0);
  const refScore = ([own]: readonly [string, unknown]): number => scoreOf(answerNames.ref, own);
  const best = [...texts].sort((a, b) => valueScore(b) - refScore(b) - valueScore(a) + refScore(a));
  const value = best[0];
  const ref = best.filter((one) => one !== value).sort((a, b) => refScore(b) - refScore(a))[0];
  if (value === undefined || ref === undefined) {
    collect.remark(name, 'elements-without-reference', list?.name ?? '');
    return;
  }
  const place = `${list?.name ?? ''}[].`;
  collect.change(
    ['element', 'request', 'value'],
    value[0],
    evidence(place + value[0], value[1]),
    valueScore(value) > 0,
  );
  collect.change(
    ['element', 'request', 'ref'],
    ref[0],
    evidence(place + ref[0], ref[1], 'reference'),
    refScore(ref) > 0,
  );
}

function proposeSingleAnswer(context: Context, name: OperationName, example: CallExample): void {
  const { collect } = context;
  const { answer, request } = example;
  if (typeof answer === 'string') {
    collect.change(['bareStrings'], true);
    return;
  }
  const gives = name === 'CreateSession' ? 'session' : operationInfo[name].gives;
  const leaves = leavesOf(answer);
  const sent = new Set(leavesOf(request).map(({ value }) => value));
  const reading = pickLeaf(
    context,
    gives,
    leaves.filter(({ path }) => !path.includes('[]')),
    {
      sent: name === 'Translate' ? new Set() : sent,
    },
  );
  if (reading === null) {
    const number = leaves.find(
      ({ path, value }) => typeof value === 'number' && scoreOf(answerNames[gives], path.at(-1) ?? '') >= 6,
    );
    if (number !== undefined) collect.remark(name, 'answer-number', number.path.join('.'));
    else if (leaves.some(({ path }) => path.includes('[]')))
      collect.remark(name, 'answer-in-list', leaves.find(({ path }) => path.includes('[]'))?.path[0] ?? '');
    else collect.remark(name, 'answer-unclear', leaves.map(({ path }) => path.join('.')).join(', '));
    return;
  }
  const { leaf, isSure } = reading;
  const text = leaf.path.join('.');
  if ((gives === 'token' || gives === 'mask') && namesCleartext(text)) {
    collect.remark(name, 'answer-unclear', text);
    return;
  }
  if (!isSure) collect.remark(name, 'answer-unclear', text);
  collect.change(
    ['operations', name, 'answer'],
    [text],
    evidence(text, leaf.value, gives === 'session' ? 'secret' : 'hidden'),
    isSure,
  );
}
