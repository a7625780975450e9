import { operationInfo, type BatchOperation } from '../../contract/operations.ts';
import { isObject, type CallExample } from '../../parsing/service-examples/example.ts';
import { anyName } from '../../parsing/service-examples/openapi.ts';
import { addTo, evidence, isFlag, pickLeaf, type Context } from './proposal.ts';
import { answerNames, scoreOf } from './roles.ts';
import { isReal, leavesOf, type Leaf } from './sample-values.ts';

interface ListFound {
  readonly path: readonly string[];
  readonly elements: readonly unknown[];
  readonly byReference: boolean;
}

/** RefIds that the example sends. */
function refsOf(request: unknown): Set<string> {
  const list = isObject(request) ? Object.values(request).find((one) => Array.isArray(one)) : undefined;
  const elements = Array.isArray(list) ? (list as unknown[]) : [];
  return new Set(
    elements
      .flatMap((one) => (isObject(one) ? Object.values(one).map(String) : []))
      .filter((text) => text !== 'string'),
  );
}

/** What the elements of a batch answer hold, and where they stand. */
export function proposeBatchAnswer(context: Context, name: BatchOperation, example: CallExample): void {
  const { collect } = context;
  const refs = refsOf(example.request);
  const found = findList(example.answer, refs);
  if (found === null) {
    collect.remark(
      name,
      'answer-unclear',
      leavesOf(example.answer)
        .map(({ path }) => path.join('.'))
        .join(', '),
    );
    return;
  }
  const { path, elements, byReference } = found;
  const place = path.join('.');
  if (place === '') collect.change(['bareLists'], true);
  else addName(context, ['lists'], place);
  collect.change(['batchAnswers'], byReference ? 'by-reference' : 'list', evidence(place, null));
  const { gives, isMatch } = operationInfo[name];
  const [first] = elements;
  if (typeof first === 'string') {
    if (isMatch && !byReference) {
      collect.change(
        ['operations', name, 'returns'],
        'reference',
        evidence(`${place}[]`, first, 'reference'),
      );
      return;
    }
    if (!byReference) collect.remark(name, 'reference-unclear', place);
    return;
  }
  const leaves = leavesOf(first);
  const ref = byReference ? null : pickRef(leaves, refs);
  if (!byReference) {
    const number = leaves.find(
      ({ path: own, value }) => typeof value === 'number' && scoreOf(answerNames.ref, own.at(-1) ?? '') >= 8,
    );
    if (ref === null) {
      if (number !== undefined) collect.remark(name, 'reference-number', number.path.join('.'));
      else collect.remark(name, 'reference-unclear', leaves.map(({ path: own }) => own.join('.')).join(', '));
      return;
    }
    addName(context, ['element', 'ref'], ref.path.join('.'), ref.value);
  }
  proposeErrors(context, elements);
  const others = leaves.filter((leaf) => leaf !== ref);
  const sent = new Set(leavesOfList(example.request));
  const picked = pickLeaf(context, gives, others, { sent: isMatch || gives === 'token' ? new Set() : sent });
  if (isMatch && (picked === null || !picked.isSure)) {
    const echoed = others.find(({ value }) => typeof value === 'string' && isReal(value) && sent.has(value));
    const token =
      echoed ??
      others.find(
        ({ path: own, value }) =>
          typeof value === 'string' && scoreOf(answerNames.token, own.at(-1) ?? '') >= 7,
      );
    if (token !== undefined) {
      collect.change(
        ['operations', name, 'returns'],
        'element',
        evidence(`${place}[].${token.path.join('.')}`, token.value),
      );
      collect.change(
        ['operations', name, 'answer'],
        [token.path.join('.')],
        evidence(`${place}[].${token.path.join('.')}`, token.value),
      );
      return;
    }
    if (others.every(({ value }) => typeof value !== 'string')) {
      collect.change(
        ['operations', name, 'returns'],
        'reference',
        evidence(`${place}[]`, ref?.value ?? null, 'reference'),
      );
      return;
    }
  }
  if (picked === null) {
    collect.remark(name, 'answer-unclear', others.map(({ path: own }) => own.join('.')).join(', '));
    return;
  }
  const text = picked.leaf.path.join('.');
  if (isMatch) {
    const isSent = isReal(picked.leaf.value) && sent.has(picked.leaf.value);
    collect.change(
      ['operations', name, 'returns'],
      isSent ? 'element' : 'value',
      evidence(`${place}[].${text}`, picked.leaf.value),
    );
  }
  if (!picked.isSure) collect.remark(name, 'answer-unclear', text);
  collect.change(
    ['operations', name, 'answer'],
    [text],
    evidence(`${place}[].${text}`, picked.leaf.value),
    picked.isSure,
  );
}

const leavesOfList = (json: unknown): unknown[] => {
  if (Array.isArray(json)) return json.flatMap(leavesOfList);
  return isObject(json) ? Object.values(json).flatMap(leavesOfList) : [json];
};

/** Each operation adds its own name; those of the profile are not taken over. */
function addName(context: Context, path: readonly string[], name: string, value: unknown = null): void {
  context.collect.change(path, addTo(context, path.join('.'), [name]), evidence(name, value, 'reference'));
}

const maxDepth = 4;

/** The list whose elements name the RefIds that were sent, else the first of objects, else any. */
function findList(answer: unknown, refs: ReadonlySet<string>): ListFound | null {
  const found: (ListFound & { readonly fit: number })[] = [];
  const visit = (json: unknown, path: readonly string[]): void => {
    if (path.length > maxDepth) return;
    if (Array.isArray(json)) {
      const elements = json as unknown[];
      const named = leavesOfList(elements).some((one) => refs.has(String(one)));
      const holds =
        elements.length > 0 && isObject(elements[0]) ? 1 : typeof elements[0] === 'string' ? 0 : -1;
      if (holds >= 0) found.push({ path, elements, byReference: false, fit: (named ? 4 : 0) + holds });
      return;
    }
    if (!isObject(json)) return;
    const names = Object.keys(json);
    const isKeyed = names.length > 0 && names.every((one) => refs.has(one) || one === anyName);
    if (isKeyed) {
      found.push({ path, elements: Object.values(json), byReference: true, fit: 6 });
      return;
    }
    for (const [name, inner] of Object.entries(json)) visit(inner, [...path, name]);
  };
  visit(answer, []);
  return found.sort((one, other) => other.fit - one.fit)[0] ?? null;
}

function pickRef(leaves: readonly Leaf[], refs: ReadonlySet<string>): Leaf | null {
  const scored = leaves
    .filter(({ value }) => typeof value === 'string')
    .map((leaf) => ({
      leaf,
      score:
        scoreOf(answerNames.ref, leaf.path.at(-1) ?? '') +
        (refs.has(String(leaf.value)) && isReference(leaf) ? 12 : 0),
    }))
    .filter(({ score }) => score >= 3)
    .sort((one, other) => other.score - one.score);
  return scored[0]?.leaf ?? null;
}

/** A token that comes back is no RefId. */
const isReference = ({ path }: Leaf): boolean =>
  scoreOf(answerNames.token, path.at(-1) ?? '') < 7 && scoreOf(answerNames.cleartext, path.at(-1) ?? '') < 7;

const errorNames = /err|fault|problem|fail|reason/i;

/** Members that speak of errors, and what they say where there is none. */
function proposeErrors(context: Context, elements: readonly unknown[]): void {
  const { collect, profile } = context;
  const all = elements.filter(isObject);
  const names = [...new Set(all.flatMap((one) => leavesOf(one).map(({ path }) => path.join('.'))))].filter(
    (name) => errorNames.test(name.split('.').at(-1) ?? ''),
  );
  const objects = [...new Set(all.flatMap((one) => Object.keys(one)))].filter(
    (name) => errorNames.test(name) && !names.includes(name),
  );
  const errors = [...names, ...objects];
  if (errors.length > 0) {
    const known = addTo(context, 'element.error', errors);
    collect.change(
      ['element', 'error'],
      [...new Set([...known, ...profile.element.error])].slice(0, 40),
      evidence(errors.join(', '), null),
    );
    // What stands in the first element, which has its value, says nothing.
    const [first] = all;
    const quiet = leavesOf(first)
      .filter(({ path }) => errors.includes(path.join('.')))
      .map(({ value }) => value)
      .filter((value) => (value === 0 || typeof value === 'string') && value !== 'string' && value !== '');
    const none = quiet.filter(
      (value) => value === 0 || /^(?:none|ok|0+|no[_ -]?error|success)$/i.test(String(value)),
    );
    if (none.length > 0)
      collect.change(
        ['element', 'none'],
        [...new Set([...profile.element.none, ...addTo(context, 'element.none', none)])],
        evidence(errors.join(', '), none[0], 'profile'),
      );
  }
  const flags = all.map((one) => {
    const leaves = leavesOf(one);
    return leaves.filter((leaf) => isFlag(leaf, leaves));
  });
  const flag = flags[0]?.[0];
  const name = flag?.path.join('.');
  if (flag === undefined || name === undefined || errors.includes(name)) return;
  if (!flags.every((one) => one.some(({ path }) => path.join('.') === name))) return;
  collect.change(
    ['element', 'success'],
    { member: name, values: [flag.value] },
    evidence(name, flag.value, 'profile'),
  );
}
