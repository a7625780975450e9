import type { Failure } from '../contract/errors.ts';
import { memberAt } from './answers.ts';
import type { ServiceProfile } from './profile.ts';
import type { Nothing } from './profile-fields.ts';
import type { ElementAnswer } from './service-client.ts';

export type Refused = Extract<ElementAnswer, { ok: false }>;
type Members = Readonly<Record<string, unknown>>;
type ElementProfile = { readonly error: readonly string[]; readonly none: Nothing };

const maxReason = 300;

/** What is said against a value: '' where it is no text, null where nothing is. */
export function refusalOf(object: Members, { error, none }: ElementProfile): string | null {
  for (const name of error) {
    const found = memberAt(object, name);
    if (saysNothing(found, none)) continue;
    const texts: unknown[] = Array.isArray(found) ? found : [found];
    return texts.every((text) => typeof text === 'string') ? texts.join('; ').slice(0, maxReason) : '';
  }
  return saysNotDone(object) === null ? null : '';
}

/** The member that says something against what it stands in; null where none does. */
export const refusingMember = (object: Members, { error, none }: ElementProfile): string | null =>
  error.find((name) => !saysNothing(memberAt(object, name), none)) ?? saysNotDone(object);

/** Whatever they are called in a profile: nothing that was done has one of these. */
const doneFlags = [
  'success',
  'Success',
  'ok',
  'Ok',
  'OK',
  'succeeded',
  'Succeeded',
  'isSuccess',
  'IsSuccess',
];

const saysNotDone = (object: Members): string | null =>
  doneFlags.find((name) => Object.hasOwn(object, name) && object[name] === false) ?? null;

function saysNothing(found: unknown, none: Nothing): boolean {
  if (found === undefined || found === null) return true;
  if (typeof found !== 'object') return none.some((one) => one === found);
  return (
    Object.keys(found).length === 0 &&
    none.some((one) => typeof one === 'object' && one !== null && Array.isArray(one) === Array.isArray(found))
  );
}

/** What a code against a value means. */
export function codeOf(reason: string, codes: ServiceProfile['elementCodes']): Refused['code'] {
  if (codes.valueInvalid.includes(reason)) return 'service.value-invalid';
  if (codes.valueTooLong.includes(reason)) return 'service.value-too-long';
  return codes.tokenInvalid.includes(reason) ? 'service.token-invalid' : 'service.element-refused';
}

/** A code as the service wrote it, where it is one and no sentence, which could repeat anything. */
export const isCode = (text: string): boolean => /^[A-Za-z][\w.-]{1,59}$/.test(text) && !/\d{4}/.test(text);

/** A 400 whose code the profile knows as one that is said against a value, named as in a batch. */
export function explainRefusal(
  failure: Failure,
  { elementCodes }: Pick<ServiceProfile, 'elementCodes'>,
): Failure {
  if (failure.code !== 'service.invalid-input') return failure;
  const code = failure.codes
    ?.map((own) => codeOf(own, elementCodes))
    .find((known) => known !== 'service.element-refused');
  return code === undefined ? failure : { ...failure, code };
}
