import { isObject, type CallExample } from '../../parsing/service-examples/example.ts';
import { madeUp } from '../../parsing/service-examples/openapi.ts';
import { evidence, relative, valueInPath, type Context } from './proposal.ts';
import { answerNames, columnNames, flat, reportNames, scoreOf, type Subject } from './roles.ts';
import { everyLeaf, leavesOf } from './sample-values.ts';

type ReportParameter = keyof typeof reportNames;

const members = {
  Authenticate: 'authenticate',
  AggregateApiRequestMetrics: 'metrics',
  QueryLastFailedRequests: 'failures',
} as const;
const parameters: Readonly<Record<keyof typeof members, readonly ReportParameter[]>> = {
  Authenticate: ['user', 'password'],
  AggregateApiRequestMetrics: ['accountId', 'tenantId', 'startDate', 'endDate', 'groupBy'],
  QueryLastFailedRequests: ['accountId', 'tenantId', 'max'],
};
const columns = {
  AggregateApiRequestMetrics: ['day', 'definition', 'operation', 'succeeded', 'failed', 'requests'],
  QueryLastFailedRequests: ['requestId', 'at', 'operation', 'definition', 'status', 'code'],
} as const;

/** The portal's sign-in and the two reports. */
export function proposeReport(context: Context, subject: Subject, example: CallExample): void {
  if (!Object.hasOwn(members, subject)) return;
  const name = subject as keyof typeof members;
  const { collect } = context;
  const at = (...path: string[]) => ['reporting', members[name], ...path];
  const path = relative(context, example.path);
  const held = valueInPath(context, path);
  if (held !== null || path.includes('{')) collect.remark(subject, 'value-in-address', held ?? path);
  else if (path !== '') collect.change(at('path'), path, evidence('address', path, 'profile'));
  const allowed = name === 'Authenticate' ? ['POST', 'PUT'] : ['GET', 'POST', 'PUT'];
  if (allowed.includes(example.method))
    collect.change(at('method'), example.method, evidence('method', example.method, 'profile'));
  else if (example.method !== '') collect.remark(subject, 'method', example.method);
  const sent: (readonly [string, unknown])[] = [
    ...(isObject(example.request) ? Object.entries(example.request) : []),
    ...example.query,
  ];
  const used = new Set<string>();
  const days: (readonly [string, unknown])[] = [];
  for (const parameter of parameters[name]) {
    const best = sent
      .filter(([own]) => !used.has(own))
      .map(([own, value]) => ({ own, value, score: scoreOf(reportNames[parameter], own) }))
      .sort((one, other) => other.score - one.score)[0];
    if (best === undefined || best.score === 0) {
      collect.remark(subject, 'parameter-unclear', parameter);
      continue;
    }
    used.add(best.own);
    const holds = parameter === 'password' ? 'secret' : 'hidden';
    collect.change(at('request', parameter), best.own, evidence(best.own, best.value, holds));
    if (parameter === 'startDate' || parameter === 'endDate') days.push([best.own, best.value]);
  }
  if (days.length > 0) proposeDates(context, days, example.answer, at);
  if (name === 'AggregateApiRequestMetrics') proposePages(context, example.answer, sent, { used, at });
  const left = sent.filter(([own]) => !used.has(own) && !/^pretty$/i.test(own));
  if (name === 'Authenticate') {
    const extra = Object.fromEntries(
      left.flatMap(([own, value]): [string, string | boolean][] => {
        if (/tenant/i.test(own)) return [[own, '{tenantId}']];
        if (/account/i.test(own)) return [[own, '{accountId}']];
        // A number may be a PIN or a one-time password.
        return typeof value === 'boolean' ? [[own, value]] : [];
      }),
    );
    const others = left.filter(([own]) => !Object.hasOwn(extra, own));
    if (others.length > 0) collect.remark(subject, 'members-left', others.map(([own]) => own).join(', '));
    if (Object.keys(extra).length > 0)
      collect.change(at('extra'), extra, evidence(Object.keys(extra).join(', '), null));
  } else if (left.length > 0) collect.remark(subject, 'members-left', left.map(([own]) => own).join(', '));
  proposeAnswer(context, name, example.answer, at);
}

function proposeAnswer(
  { collect }: Context,
  name: keyof typeof members,
  answer: unknown,
  at: (...path: string[]) => string[],
): void {
  if (answer === undefined) {
    collect.remark(name, 'answer-missing');
    return;
  }
  const leaves = leavesOf(answer);
  if (name === 'Authenticate') {
    const best = leaves
      .filter(({ value }) => typeof value === 'string')
      .map((leaf) => ({
        leaf,
        score: Math.max(
          scoreOf(answerNames.session, leaf.path.at(-1) ?? ''),
          scoreOf(answerNames.token, leaf.path.at(-1) ?? ''),
        ),
      }))
      .sort((one, other) => other.score - one.score)[0];
    if (best === undefined || best.score === 0) {
      collect.remark(name, 'answer-unclear', leaves.map(({ path }) => path.join('.')).join(', '));
      return;
    }
    const { path, value } = best.leaf;
    collect.change(at('token'), [path.at(-1)], evidence(path.join('.'), value, 'secret'));
    if (path.length > 1) collect.change(at('wrappers'), path.slice(0, -1), evidence(path.join('.'), null));
    return;
  }
  const first = leaves.find(({ path }) => path.includes('[]'))?.path;
  const list = first?.slice(0, first.indexOf('[]'));
  if (list !== undefined && list.length > 0)
    collect.change(at('lists'), [list.join('.')], evidence(list.join('.'), null));
  const behind = list === undefined ? 0 : list.length + 1;
  const own = leaves
    .filter(({ path }) => path.length > behind && !path.slice(behind).includes('[]'))
    .map(({ path, value }) => ({ name: path.slice(behind).join('.'), value, depth: path.length, path }));
  const used = new Set<string>();
  for (const column of columns[name]) {
    const [best] = own
      .filter(({ name: text, value }) => !used.has(text) && isOfColumn(column, value))
      .map((leaf) => ({ leaf, score: scoreOf(columnNames[column], leaf.path.at(-1) ?? '') }))
      .sort((one, other) => other.score - one.score || one.leaf.depth - other.leaf.depth);
    if (best === undefined || best.score === 0) continue;
    used.add(best.leaf.name);
    collect.change(at(column), [best.leaf.name], evidence(best.leaf.path.join('.'), best.leaf.value));
  }
}

const numbers: readonly string[] = ['succeeded', 'failed', 'requests'];
/** A day and a moment may be numbers, and so may a status; a count is one, and a name is none. */
function isOfColumn(column: string, value: unknown): boolean {
  if (value === null || value === madeUp) return true;
  const isNumber = typeof value === 'number' || (typeof value === 'string' && /^\d+$/.test(value));
  if (numbers.includes(column)) return isNumber;
  return typeof value === 'string' || (isNumber && ['day', 'at', 'status', 'code'].includes(column));
}

/** Names of members that say that there is another page, and of those that ask for one. */
const saysMore =
  /^(?:next|nextpage|nextcursor|nexttoken|nextpagetoken|nextlink|nexturl|cursor|continuation|continuationtoken|pagetoken|hasmore|hasnext|hasnextpage|morepages|more|istruncated|truncated)$/;
const asksByNumber = /^(?:page|pageno|pagenumber)$/;
const asksByValue =
  /^(?:cursor|after|next|nextcursor|nexttoken|nextpage|nextpagetoken|pagetoken|continuation|continuationtoken|startingafter)$/;

function proposePages(
  { collect, profile }: Context,
  answer: unknown,
  sent: readonly (readonly [string, unknown])[],
  { used, at }: { readonly used: Set<string>; readonly at: (...path: string[]) => string[] },
): void {
  const found = new Map<string, unknown>();
  for (const { path, value } of leavesOf(answer)) {
    // Up to the member that speaks of it: `_links.next.href` holds a link.
    const last = path.findIndex((part) => saysMore.test(flat(part)));
    if (last >= 0 && !path.includes('[]')) found.set(path.slice(0, last + 1).join('.'), value);
  }
  const more = [...found.keys()];
  if (more.length === 0) return;
  const all = [...new Set([...more, ...profile.reporting.metrics.more])].slice(0, 40);
  collect.change(at('more'), all, evidence(more.join(', '), null));
  // What only says that there is more tells no value to ask for it with.
  const isValue = [...found.values()].some((value) => typeof value !== 'boolean');
  const asks = isValue ? [asksByValue, asksByNumber] : [asksByNumber];
  const ask = asks
    .map((names) => sent.find(([own]) => !used.has(own) && names.test(flat(own))))
    .find((one) => one !== undefined);
  if (ask === undefined) {
    collect.remark('AggregateApiRequestMetrics', 'pages-unclear', more.join(', '));
    return;
  }
  used.add(ask[0]);
  collect.change(at('page'), [ask[0]], evidence(ask[0], ask[1]));
}

/** The form of the days that are sent, as far as both of them and the days of the answer tell it. */
function proposeDates(
  { collect }: Context,
  days: readonly (readonly [string, unknown])[],
  answer: unknown,
  at: (...path: string[]) => string[],
): void {
  const texts = days.map(([, value]) => String(value)).filter((text) => !['', '0', madeUp].includes(text));
  const [place = ''] = days[0] ?? [];
  if (texts.length === 0) return;
  const answered = everyLeaf(answer).filter(
    ({ path, value }) =>
      scoreOf(columnNames.day, path.at(-1) ?? '') > 0 && value !== madeUp && value !== null && value !== 0,
  );
  const sent = formsOf(texts);
  const all = formsOf([...texts, ...answered.map(({ value }) => String(value))]);
  // Days may come back in another form than they were sent in.
  const forms = all.length > 0 ? all : sent;
  const [form] = forms;
  // With the year before it hardly anybody has the day before the month.
  const isTold = forms.length === 1 || form?.startsWith('YYYY') === true;
  if (form === undefined || !isTold) {
    collect.remark('AggregateApiRequestMetrics', 'dates-unclear', days.map(([own]) => own).join(', '));
    return;
  }
  const isSure = forms.length === 1 || form === 'YYYY-MM-DD';
  collect.change(at('dates'), form, evidence(place, texts[0], 'profile'), isSure);
}

const separators = ['-', '/', '.'];
const patterns: readonly string[] = [
  ...separators.flatMap((one) => [
    `YYYY${one}MM${one}DD`,
    `YYYY${one}DD${one}MM`,
    `MM${one}DD${one}YYYY`,
    `DD${one}MM${one}YYYY`,
  ]),
  'YYYYMMDD',
];

/** The forms that all of these texts may have, the likeliest first. */
function formsOf(texts: readonly string[]): string[] {
  const forms = ['instant', 'epoch-milliseconds', 'epoch-seconds', ...patterns];
  return forms.filter((form) => texts.every((text) => hasForm(text, form)));
}

function hasForm(text: string, form: string): boolean {
  if (form === 'instant') return /^\d{4}-\d\d-\d\dT/.test(text);
  if (form === 'epoch-milliseconds') return /^\d{13}$/.test(text);
  if (form === 'epoch-seconds') return /^\d{10}$/.test(text);
  if (text.length !== form.length) return false;
  const part = (name: string): string => text.slice(form.indexOf(name), form.indexOf(name) + name.length);
  const isBetween = Array.from(form).every((unit, index) => /[YMD]/.test(unit) || text[index] === unit);
  const day = `${part('YYYY')}-${part('MM')}-${part('DD')}`;
  const time = Date.parse(`${day}T00:00:00Z`);
  return isBetween && !Number.isNaN(time) && new Date(time).toISOString().startsWith(day);
}
