import { makeDraft, viewDraft } from '../../electron/connections/assistant/draft.ts';
import { readExamples } from '../../electron/parsing/service-examples/read-examples.ts';
import { readProfile } from '../../electron/service/profile.ts';

/** What is proposed of a text for a connection with the definition card-number. */
export function proposed(text: string) {
  const examples = readExamples(text);
  if (!examples.ok) throw new Error(examples.failure.code);
  const shipped = readProfile('{"version":1}');
  if (!shipped.ok) throw new Error('no profile');
  const draft = makeDraft({
    connection: {
      baseUrl: 'https://vendor.example',
      definitions: [{ name: 'card-number', label: 'Card', kind: 'card' }],
    },
    profile: shipped.value,
    examples: examples.value,
    edits: { examples: [], fields: [] },
  });
  const checked = readProfile(JSON.stringify(draft.content));
  return {
    content: draft.content as { operations?: Record<string, object> },
    remarks: draft.remarks.map(({ subject, kind, names }) => `${subject ?? 'all'} ${kind} ${names}`.trim()),
    isValid: checked.ok,
    view: viewDraft(draft, { examples: examples.value, profile: shipped.value }, null),
  };
}

export const basePath = '/api/services/evtservice';
/** A request as it goes over the wire, and its answer. */
export const wire = (path: string, request: object, answer: unknown, headers = ''): string =>
  `POST ${path} HTTP/1.1\n${headers}\n\n${JSON.stringify(request)}\n\n${JSON.stringify(answer)}\n\n`;
