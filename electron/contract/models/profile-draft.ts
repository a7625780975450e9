import { z } from 'zod';
import { failureSchema } from '../errors.ts';
import { count, operation } from './fields.ts';

/** What a profile describes, operation by operation. */
const profileSubject = z.enum([
  'CreateSession',
  ...operation.options,
  'Authenticate',
  'AggregateApiRequestMetrics',
  'QueryLastFailedRequests',
]);
export type ProfileSubject = z.infer<typeof profileSubject>;

/** What a person set otherwise than it was proposed. */
export const profileEdits = z.strictObject({
  /** Which example is of which operation; null for none of them. */
  examples: z.array(z.strictObject({ subject: profileSubject, example: count.nullable() })).max(20),
  fields: z.array(z.strictObject({ path: z.string().min(1).max(300), text: z.string().max(5_000) })).max(400),
});
export type ProfileEdits = z.infer<typeof profileEdits>;

const draftField = z.strictObject({
  path: z.string().max(300),
  description: z.string().max(300),
  form: z.enum(['text', 'names', 'choice', 'flag', 'number', 'json']),
  choices: z.array(z.string().max(100)).max(20),
  text: z.string().max(40_000),
  /** Where the example has it, and what it holds there: secrets obscured, values masked. */
  example: z.strictObject({ place: z.string().max(500), shown: z.string().max(300) }).nullable(),
  /** Otherwise it was what was left, and wants a look. */
  isSure: z.boolean(),
  isChanged: z.boolean(),
});
export type DraftField = z.infer<typeof draftField>;

const draftRemark = z.strictObject({ kind: z.string().max(40), names: z.string().max(300) });

/** A service profile that is being made of examples, and is not stored yet. */
export const profileDraft = z.strictObject({
  examples: z.array(z.strictObject({ title: z.string().max(200), address: z.string().max(500) })).max(200),
  /** Those of the operations, and what holds for all of them as the last, without a subject. */
  groups: z
    .array(
      z.strictObject({
        subject: profileSubject.nullable(),
        example: count.nullable(),
        fields: z.array(draftField).max(100),
        remarks: z.array(draftRemark).max(60),
      }),
    )
    .max(20),
  /** Why it is no valid profile; null where it is one. */
  failure: failureSchema.nullable(),
});
export type ProfileDraft = z.infer<typeof profileDraft>;

/** What came of one request of a test. */
const trialVerdict = z.enum([
  'understood',
  'other-value', // an answer was read, and it is not what belongs there
  'not-understood',
  'nowhere', // 404
  'wrong-method', // 405
  'wrong-type', // 415
  'not-signed-in', // 401
  'refused', // 403
  'invalid', // 400
  'tls',
  'unreachable',
  'failed',
  'not-tried',
]);
export type TrialVerdict = z.infer<typeof trialVerdict>;

export const profileTrial = z.strictObject({
  steps: z
    .array(
      z.strictObject({
        operation: z.enum(['CreateSession', ...operation.options]),
        verdict: trialVerdict,
        /** Secrets obscured, values masked. */
        request: z.string().max(4_000),
        status: z.int().nullable(),
        answer: z.string().max(4_000),
        /** What was read of the answer, shown as the answer is. */
        understood: z.string().max(300).nullable(),
        failure: failureSchema.nullable(),
      }),
    )
    .max(9),
});
export type ProfileTrial = z.infer<typeof profileTrial>;

/** Members in which two profiles differ, as JSON. */
export const profileDifferences = z.strictObject({
  file: z.string().max(300),
  differences: z
    .array(
      z.strictObject({
        path: z.string().max(300),
        here: z.string().max(1_000).nullable(),
        there: z.string().max(1_000).nullable(),
      }),
    )
    .max(300),
});
export type ProfileDifferences = z.infer<typeof profileDifferences>;
