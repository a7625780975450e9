import { z } from 'zod';
import { serviceProfile } from './profile.ts';

/** A member of the profile that holds no further ones: a field of the form, a line of the documentation. */
export interface ProfileField {
  readonly path: readonly string[];
  readonly description: string;
  /** What stands in it. `names`: a list of texts. `json`: anything else. */
  readonly form: 'text' | 'names' | 'choice' | 'flag' | 'number' | 'json';
  readonly choices: readonly string[];
}

interface Schema {
  readonly $schema?: string;
  readonly title?: string;
  readonly description?: string;
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly propertyNames?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly required?: readonly string[];
}

const whole = (): Schema => z.toJSONSchema(serviceProfile, { io: 'input' }) as Schema;

/** The JSON Schema of a profile's file, in which all but the version may be left out. */
export function profileSchema(): object {
  const relax = (schema: Schema): Schema => {
    const { required: _required, properties, anyOf, items, additionalProperties, ...rest } = schema;
    return {
      ...rest,
      ...(properties && {
        properties: Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, relax(one)])),
      }),
      ...(anyOf && { anyOf: anyOf.map(relax) }),
      ...(items && { items: relax(items) }),
      ...(additionalProperties !== undefined && {
        additionalProperties:
          typeof additionalProperties === 'object' ? relax(additionalProperties) : additionalProperties,
      }),
    };
  };
  return {
    ...relax(whole()),
    title: 'Service profile of Tokendesk',
    description: 'What a tokenization service says otherwise than the shipped profile.',
    required: ['version'],
  };
}

/** Not for the form: the first has one value, the others are whole structures of their own. */
const notFields: readonly string[] = ['version', 'administration', 'pins'];

/** Every member that can be set, in the order of the profile. */
export function profileFields(): ProfileField[] {
  const fields: ProfileField[] = [];
  const visit = (schema: Schema, path: readonly string[], inherited: string): void => {
    const description = schema.description ?? inherited;
    if (schema.properties !== undefined && schema.description === undefined) {
      for (const [name, one] of Object.entries(schema.properties))
        if (path.length > 0 || !notFields.includes(name)) visit(one, [...path, name], '');
      return;
    }
    const names = schema.propertyNames?.enum;
    if (
      Array.isArray(names) &&
      path.at(-1) === 'request' &&
      typeof schema.additionalProperties === 'object'
    ) {
      for (const name of names) visit(schema.additionalProperties, [...path, String(name)], description);
      return;
    }
    fields.push({ path, description, ...formOf(schema) });
  };
  visit(whole(), [], '');
  return fields;
}

function formOf(schema: Schema): Pick<ProfileField, 'form' | 'choices'> {
  const choices = (schema.enum ?? (schema.const === undefined ? [] : [schema.const])).map(String);
  if (choices.length > 0) return { form: 'choice', choices };
  if (schema.type === 'array' && schema.items?.type === 'string') return { form: 'names', choices };
  if (schema.type === 'boolean') return { form: 'flag', choices };
  if (schema.type === 'integer') return { form: 'number', choices };
  const isText = schema.type === 'string' || schema.anyOf?.every(({ type }) => type === 'string') === true;
  return { form: isText ? 'text' : 'json', choices };
}

/** A field as a person writes it. */
export function fieldText({ form }: Pick<ProfileField, 'form'>, value: unknown): string {
  if (form === 'names') return (value as readonly string[]).join(', ');
  return form === 'json' ? JSON.stringify(value) : String(value);
}

/** What was written into a field; undefined where it is nothing of its form. */
export function fieldValue({ form }: Pick<ProfileField, 'form'>, text: string): unknown {
  switch (form) {
    case 'names':
      return text
        .split(',')
        .map((one) => one.trim())
        .filter((one) => one !== '');
    case 'flag':
      return text === 'true' ? true : text === 'false' ? false : undefined;
    case 'number':
      return /^\d{1,9}$/.test(text.trim()) ? Number(text) : undefined;
    case 'json':
      try {
        return JSON.parse(text) as unknown;
      } catch {
        return undefined;
      }
    default:
      return text.trim();
  }
}
