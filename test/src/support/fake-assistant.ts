import { fileNamed } from './file-name.ts';
import type { CallInput } from '../../../electron/contract/calls.ts';
import { done } from '../../../electron/contract/errors.ts';
import type { ProfileDraft } from '../../../electron/contract/models/profile-draft.ts';
import type { Answers } from './fake-bridge.ts';

const fieldOf = (path: string, text: string) => ({
  path,
  description: 'What it means',
  form: 'text' as const,
  choices: [],
  text,
  example: null,
  isSure: true,
  isChanged: false,
});

/** One operation and one member of all, with one example once something was read. */
export function assistantAnswers(): Pick<
  Answers,
  | 'connections.readExamples'
  | 'connections.chooseExamples'
  | 'connections.forgetExamples'
  | 'connections.draftProfile'
  | 'connections.saveProfile'
  | 'connections.tryProfile'
  | 'connections.exportProfile'
  | 'connections.compareProfile'
> {
  let read = 0;
  const draft = ({ edits }: Pick<CallInput<'connections.draftProfile'>, 'edits'>): ProfileDraft => {
    const textOf = (path: string, text: string) =>
      edits.fields.find((one) => one.path === path)?.text ?? text;
    const path = textOf('operations.GetMasked.path', '/mask');
    return {
      examples: Array.from({ length: read }, () => ({ title: 'Mask one', address: 'POST /mask' })),
      groups: [
        {
          subject: 'GetMasked',
          example: read > 0 ? 0 : null,
          fields: [
            { ...fieldOf('operations.GetMasked.path', path), isChanged: true },
            {
              ...fieldOf('operations.GetMasked.answer', 'redacted'),
              form: 'names',
              example: read > 0 ? { place: 'redacted', shown: '411111••••••5251' } : null,
              isSure: read === 0,
            },
          ],
          remarks: read > 0 ? [{ kind: 'members-left', names: 'tenant' }] : [],
        },
        { subject: null, example: null, fields: [fieldOf('batchAnswers', 'list')], remarks: [] },
      ],
      failure: path.startsWith('/') ? null : { code: 'connection.invalid', subject: 'service profile' },
    };
  };
  return {
    'connections.readExamples': (input) => {
      read += 1;
      return done(draft(input));
    },
    'connections.chooseExamples': (input) => {
      read += 1;
      return done(draft(input));
    },
    'connections.forgetExamples': () => {
      read = 0;
      return done({});
    },
    'connections.draftProfile': (input) => done(draft(input)),
    'connections.saveProfile': () => done({ name: 'Made here', fitted: [] }),
    'connections.tryProfile': () =>
      done({
        steps: [
          {
            operation: 'GetMasked',
            verdict: 'nowhere',
            request: 'POST /mask\n{}',
            status: 404,
            answer: '{}',
            understood: null,
            failure: { code: 'service.not-found', status: 404 },
          },
        ],
      }),
    'connections.exportProfile': () => done({ name: fileNamed('service-profile.json') }),
    'connections.compareProfile': () =>
      done({ file: 'theirs.json', differences: [{ path: 'lists', here: '["rows"]', there: null }] }),
  };
}
