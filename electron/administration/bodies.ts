import { done, type Outcome } from '../contract/errors.ts';
import type {
  DefinitionDraft,
  PolicyGrant,
  PortalDefinition,
  PortalKey,
  PortalPolicy,
} from '../contract/models/administration.ts';
import type { DefinitionKind } from '../contract/models/connection.ts';
import { isOperation, type Operation } from '../contract/operations.ts';
import { countOf, firstOf, listIn, textOf } from '../portal/portal.ts';
import type { AdministrationProfile } from '../service/administration-profile.ts';
import { isObject, unexpectedAnswer } from '../service/answers.ts';

const maxListed = 1_000;

type Members = Readonly<Record<string, unknown>>;

/** The objects of a list. Failure: service.unexpected-answer, with the members that came. */
function objectsIn(json: unknown, { lists }: AdministrationProfile): Outcome<readonly Members[]> {
  const list = listIn(json, lists);
  return list?.every(isObject) === true ? done(list.slice(0, maxListed)) : unexpectedAnswer(json);
}

/** The member at a path such as `masking.keepFirst`. */
function at(object: Members, path: string | undefined): unknown {
  let found: unknown = path === undefined ? undefined : object;
  for (const name of path?.split('.') ?? []) {
    found = isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
  }
  return found;
}

export function readDefinitions(json: unknown, profile: AdministrationProfile): Outcome<PortalDefinition[]> {
  const objects = objectsIn(json, profile);
  if (!objects.ok) return objects;
  const { definition: members, kinds } = profile;
  return done(
    objects.value.map((object) => {
      const name = textOf(at(object, members.name));
      const text = (path: string | undefined): string | null => textOf(at(object, path)) || null;
      const kind = at(object, members.kind);
      const known = Object.entries(kinds).find(([, wire]) => wire === kind)?.[0];
      return {
        name,
        label: text(members.label) ?? name,
        kind: (known as DefinitionKind | undefined) ?? null,
        enabled: at(object, members.enabled) !== false,
        keepFirst: countOf(at(object, members.keepFirst)),
        keepLast: countOf(at(object, members.keepLast)),
        maskCharacter: text(members.maskCharacter),
        luhn: text(members.luhn),
        maxBytes: countOf(at(object, members.maxBytes)),
      };
    }),
  );
}

export function readPolicies(json: unknown, profile: AdministrationProfile): Outcome<PortalPolicy[]> {
  const objects = objectsIn(json, profile);
  if (!objects.ok) return objects;
  const { policy: members, grant } = profile;
  return done(
    objects.value.map((object) => {
      const granted = new Map<string, Set<Operation>>();
      const grants = firstOf(object, members.grants);
      for (const one of Array.isArray(grants) ? grants.filter(isObject) : []) {
        const operations = textsOf(one[grant.operations]).filter(isOperation);
        for (const name of textsOf(one[grant.definitions])) {
          granted.set(name, new Set([...(granted.get(name) ?? []), ...operations]));
        }
      }
      return {
        name: textOf(firstOf(object, members.name)),
        revoked: firstOf(object, members.revoked) === true,
        grants: [...granted]
          .slice(0, 500)
          .map(([definition, operations]) => ({ definition, operations: [...operations] })),
      };
    }),
  );
}

const textsOf = (json: unknown): string[] =>
  Array.isArray(json)
    ? json.filter((text) => typeof text === 'string').map((text) => text.slice(0, 200))
    : [];

export function readKeys(json: unknown, profile: AdministrationProfile): Outcome<PortalKey[]> {
  const objects = objectsIn(json, profile);
  if (!objects.ok) return objects;
  const { key: members } = profile;
  return done(
    objects.value.map((object) => {
      const instant = (names: readonly string[]): string | null => {
        const time = Date.parse(textOf(firstOf(object, names)));
        return Number.isNaN(time) ? null : new Date(time).toISOString();
      };
      return {
        title: textOf(firstOf(object, members.title)),
        expires: instant(members.expires)?.slice(0, 10) ?? null,
        created: instant(members.created),
        lastUsed: instant(members.lastUsed),
        revoked: firstOf(object, members.revoked) === true,
      };
    }),
  );
}

/** A member that must be there as a text, such as the key that was created. Failure: service.unexpected-answer. */
export function readText(json: unknown, members: readonly string[]): Outcome<string> {
  const text = isObject(json) ? firstOf(json, members) : undefined;
  return typeof text === 'string' && text !== '' ? done(text) : unexpectedAnswer(json);
}

export function readFlag(json: unknown, members: readonly string[]): Outcome<boolean> {
  const flag = isObject(json) ? firstOf(json, members) : undefined;
  return typeof flag === 'boolean' ? done(flag) : unexpectedAnswer(json);
}

/** A definition as the service wants it. What the person left to the service, or its profile doesn't name, is left out. */
export function definitionBody(draft: DefinitionDraft, profile: AdministrationProfile): object {
  const { definition: members, kinds } = profile;
  const body: Record<string, unknown> = {};
  for (const [field, path] of Object.entries(members) as [keyof typeof members, string | undefined][]) {
    const value = field === 'kind' ? kinds[draft.kind] : draft[field];
    if (value !== null && path !== undefined) put(body, path.split('.'), value);
  }
  return body;
}

function put(object: Record<string, unknown>, [name = '', ...rest]: string[], value: unknown): void {
  if (rest.length === 0) {
    object[name] = value;
    return;
  }
  const inner = (object[name] ?? {}) as Record<string, unknown>;
  object[name] = inner;
  put(inner, rest, value);
}

export function grantsBody(
  grants: readonly PolicyGrant[],
  { grant }: AdministrationProfile,
): readonly object[] {
  return grants
    .filter(({ operations }) => operations.length > 0)
    .map(({ definition, operations }) => ({
      [grant.definitions]: [definition],
      [grant.operations]: operations,
    }));
}
