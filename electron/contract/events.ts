import { z } from 'zod';
import { job, preflight } from './models/batch.ts';
import { deskState } from './models/desk.ts';
import { id } from './models/names.ts';

/** What main tells the window unasked. Parsed before it leaves, like every answer. */
export const events = {
  'desk.state': deskState,
  /** The cleartext of this reveal must leave the screen now. */
  'reveal.ended': z.strictObject({
    revealId: id,
    why: z.enum(['time', 'hidden', 'blur', 'locked', 'replaced']),
  }),
  /** How far a workbook is read that is being opened, 0 to 1. */
  'batch.opening': z.strictObject({ name: z.string().max(300), share: z.number().min(0).max(1) }),
  'batch.preflight': preflight,
  'batch.job': job,
} as const;

export type Events = typeof events;
export type EventName = keyof Events;
export type EventPayload<N extends EventName> = z.infer<Events[N]>;
