import { memberOf, textOf } from './example.ts';

/** What a document is that is not read; null where it is none of these. */
export function kindOfDocument(document: Readonly<Record<string, unknown>>): string | null {
  const has = (...names: string[]): boolean => names.every((name) => Object.hasOwn(document, name));
  if (typeof document['swagger'] === 'string') return 'an OpenAPI document of version 2';
  if (has('_type', '__export_format')) return 'an Insomnia export';
  if (/insomnia/i.test(textOf(document['type']))) return 'an Insomnia export';
  if (/thunder/i.test(textOf(document['client']) + textOf(document['clientName'])))
    return 'a Thunder Client collection';
  if (has('requests') && (has('order') || has('folders'))) return 'a Postman collection of version 1';
  if (has('asyncapi')) return 'an AsyncAPI document';
  if (has('items') && Array.isArray(document['items']))
    return (document['items'] as unknown[]).some((one) => memberOf(one, 'request') !== undefined)
      ? 'a Bruno collection'
      : null;
  return null;
}

/**
 * Other forms in which people write down calls. JSON behind one of them is a request as likely as an answer: it is read only
 * where the call is.
 */
const kinds: readonly (readonly [RegExp, string])[] = [
  [/^(?:get|post|put|patch|delete)[ \t]*\{[ \t]*$/m, 'a Bruno request'],
  [/^type:\s*["']?(?:collection|spec)\.insomnia/m, 'an Insomnia export'],
  [
    /^(?:[ \t>]|PS [^>\n]*>|\$\w+[ \t]*=)*(?:Invoke-RestMethod|Invoke-WebRequest|irm|iwr)[ \t]/im,
    'a PowerShell command',
  ],
  [
    /^[ \t]*(?:[$>][ \t]+)?https?(?:ie)?[ \t]+(?:-\S+[ \t]+)*(?:(?:GET|POST|PUT|PATCH|DELETE)[ \t]+\S|\S+[ \t]+[\w.-]+:?=)/m,
    'an HTTPie command',
  ],
  [/^[ \t]*(?:[$>][ \t]+)?wget[ \t]/m, 'a wget command'],
  [
    /^[ \t]*(?:(?:const|let|var)[ \t]+\w+[ \t]*=[ \t]*)?(?:await[ \t]+)?fetch\(/m,
    'a fetch call in JavaScript',
  ],
  [/^[ \t]*(?:\w+[ \t]*=[ \t]*)?requests\.(?:get|post|put)\(/m, 'a program in Python'],
];

/** The name of such a form; null where the text has none. */
export const kindOfText = (text: string): string | null =>
  kinds.find(([pattern]) => pattern.test(text))?.[1] ?? null;
