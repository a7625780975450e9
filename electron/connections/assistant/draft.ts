import { done, failed, type Failure, type Outcome } from '../../contract/errors.ts';
import type { Connection } from '../../contract/models/connection.ts';
import type { DraftField, ProfileDraft, ProfileEdits } from '../../contract/models/profile-draft.ts';
import type { CallExample } from '../../parsing/service-examples/example.ts';
import { mask, maskCell } from '../../masking/masking.ts';
import { profileFile } from '../../service/profile-difference.ts';
import { fieldText, fieldValue, profileFields, type ProfileField } from '../../service/profile-schema.ts';
import { namesCleartext, type ServiceProfile } from '../../service/profile.ts';
import { dots, secretsOf, type ExampleSecrets } from './example-secrets.ts';
import { isPair, matchOperations, subjects } from './match-operations.ts';
import type { Change, Evidence, Remark } from './proposal.ts';
import { propose } from './propose.ts';
import type { Subject } from './roles.ts';
import { findSampleValues } from './sample-values.ts';

interface DraftOptions {
  readonly connection: Pick<Connection, 'baseUrl' | 'definitions'>;
  /** The one that the connection works by now. */
  readonly profile: ServiceProfile;
  readonly examples: readonly CallExample[];
  readonly edits: ProfileEdits;
}

export interface Draft {
  /** What it would be as a file. */
  readonly content: Record<string, unknown>;
  readonly changes: ReadonlyMap<string, Change>;
  readonly matched: ReadonlyMap<Subject, number>;
  readonly remarks: readonly Remark[];
  readonly fields: readonly ProfileField[];
  readonly profile: ServiceProfile;
  readonly secrets: ExampleSecrets;
  /** A field holds nothing of its form. */
  readonly failure: Failure | null;
}

/** What is proposed of the examples, and above it what a person set. */
export function makeDraft({ connection, profile, examples, edits }: DraftOptions): Draft {
  const chosen = Object.fromEntries(edits.examples.map(({ subject, example }) => [subject, example]));
  const matched = matchOperations(examples, chosen);
  const known = new Map(
    [...matched].flatMap(([subject, index]) => {
      const example = examples[index];
      return example === undefined ? [] : [[subject, example] as const];
    }),
  );
  const samples = findSampleValues(
    known,
    connection.definitions.map(({ name }) => name),
  );
  const secrets = secretsOf({ examples, matched: known, samples });
  const { changes, remarks: said } = propose({
    profile,
    examples: known,
    samples,
    secrets,
    basePath: new URL(connection.baseUrl).pathname,
  });
  const remarks = [...said];
  const fields = profileFields();
  const made = structuredClone(profile);
  const proposed = new Map(changes.map((change) => [change.path.join('.'), change]));
  for (const { path, value } of changes) setAt(made, path, value);
  if (examples.length > 0) settle(made, examples);
  let failure: Failure | null = null;
  for (const { path, text } of edits.fields) {
    const field = fields.find((one) => one.path.join('.') === path);
    const value = field === undefined ? undefined : fieldValue(field, text);
    if (field !== undefined && value !== undefined) setAt(made, field.path, value);
    else failure ??= { code: 'connection.invalid', subject: `service profile: ${path}`.slice(0, 300) };
  }
  const content = profileFile(made);
  const used = new Set(matched.values());
  const unclear = examples.filter((one, index) => isPair(one) && !used.has(index)).length;
  if (unclear > 0) remarks.push({ subject: null, kind: 'example-unclear', names: String(unclear) });
  return { content, changes: proposed, matched, remarks, fields, profile: made, secrets, failure };
}

/** What follows from the examples for what none of them shows. */
function settle(profile: ServiceProfile, examples: readonly CallExample[]): void {
  // In an element only what a request calls the value may be a token by the name of cleartext.
  const { value } = profile.element.request;
  for (const name of ['BatchTokenize', 'BatchTranslate'] as const) {
    const { answer } = profile.operations[name];
    const left = answer.filter((own) => !namesCleartext(own) || own === value);
    if (left.length < answer.length)
      setAt(profile, ['operations', name, 'answer'], left.length > 0 ? left : ['token']);
  }
  // The portal of a service that has none of these paths is another one.
  const paths = Object.values(profile.administration?.operations ?? {}).flatMap((one) =>
    one ? [one.path] : [],
  );
  if (!examples.some(({ path }) => paths.some((own) => path.endsWith(own))))
    setAt(profile, ['administration'], null);
}

function setAt(json: object, path: readonly string[], value: unknown): void {
  let inner = json as Record<string, unknown>;
  for (const name of path.slice(0, -1)) {
    const next = inner[name];
    if (typeof next !== 'object' || next === null) return;
    inner = next as Record<string, unknown>;
  }
  const last = path.at(-1);
  if (last !== undefined) inner[last] = value;
}

const valueAt = (json: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (inner, name) =>
      typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>)[name] : undefined,
    json,
  );

/** The draft for the window: no secret and no value in clear. */
export function viewDraft(
  draft: Draft,
  { examples, profile }: Pick<DraftOptions, 'examples' | 'profile'>,
  failure: Failure | null,
): ProfileDraft {
  const fieldsOf = (belongs: (path: readonly string[]) => boolean): DraftField[] =>
    draft.fields
      .filter(({ path }) => belongs(path))
      .flatMap((field) => {
        const value = valueAt(draft.profile, field.path);
        if (value === undefined) return [];
        const path = field.path.join('.');
        const change = draft.changes.get(path);
        const before = valueAt(profile, field.path);
        const text = fieldText(field, value);
        return [
          {
            path,
            description: field.description,
            form: field.form,
            choices: [...field.choices],
            text,
            example:
              change === undefined || change.from === null ? null : shownEvidence(change.from, draft.secrets),
            isSure: change?.isSure ?? true,
            isChanged: before === undefined || fieldText(field, before) !== text,
          },
        ];
      });
  const remarksOf = (subject: Subject | null) =>
    draft.remarks
      .filter((one) => one.subject === subject)
      .slice(0, 60)
      .map(({ kind, names }) => ({ kind, names: maskCell(names).slice(0, 300) }));
  const reports = {
    Authenticate: 'authenticate',
    AggregateApiRequestMetrics: 'metrics',
    QueryLastFailedRequests: 'failures',
  };
  const placeOf = (subject: Subject): readonly [string, string] =>
    subject in reports ? ['reporting', reports[subject as keyof typeof reports]] : ['operations', subject];
  const isOfSubject = ([first, second]: readonly string[]): boolean =>
    first === 'operations' || (first === 'reporting' && second !== 'claims');
  return {
    examples: examples.map(({ title, method, path }) => ({
      title: maskCell(draft.secrets.hide(title)).slice(0, 200),
      address: maskCell(draft.secrets.hide(`${method} ${path}`.trim())).slice(0, 500),
    })),
    groups: [
      ...subjects.map((subject) => {
        const [first, second] = placeOf(subject);
        return {
          subject,
          example: draft.matched.get(subject) ?? null,
          fields: fieldsOf((path) => path[0] === first && path[1] === second),
          remarks: remarksOf(subject),
        };
      }),
      {
        subject: null,
        example: null,
        fields: fieldsOf((path) => !isOfSubject(path)),
        remarks: remarksOf(null),
      },
    ],
    failure: draft.failure ?? failure,
  };
}

/** A RefId that a person or a program counts by. */
const shortReference = /^[A-Za-z0-9]{1,8}$/;

function shownEvidence(
  { place, value, holds }: Evidence,
  secrets: ExampleSecrets,
): { place: string; shown: string } {
  const text =
    value === null || value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);
  const isShown =
    secrets.definitions.has(text) ||
    (!secrets.holds(text) && (holds === 'profile' || (holds === 'reference' && shortReference.test(text))));
  const hidden = holds === 'secret' && text !== '' ? dots : mask('text', text);
  return {
    place: maskCell(secrets.hideNames(place)).slice(0, 500),
    shown: (isShown ? maskCell(text) : hidden).slice(0, 300),
  };
}

/** The draft's file, where it is one that may be stored. */
export const contentOf = (draft: Draft): Outcome<Record<string, unknown>> =>
  draft.failure === null ? done(draft.content) : failed(draft.failure.code, draft.failure);
