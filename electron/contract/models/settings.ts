import { z } from 'zod';

/** Preferences of this workstation. Nothing secret is ever a setting. */
export const settings = z.strictObject({
  /** How long a revealed value stays on the screen. */
  revealSeconds: z.int().min(5).max(60),
  /** How long a copied value stays on the clipboard. */
  clipboardSeconds: z.int().min(5).max(120),
  /** Idle minutes until the desk locks; never more than 15 (PCI DSS 8.2.8). */
  lockAfterMinutes: z.int().min(1).max(15),
  /** Offered when a reason is asked for; a person may type another. */
  reasons: z.array(z.string().trim().min(1).max(200)).min(1).max(30),
  caseRequired: z.boolean(),
  theme: z.enum(['system', 'light', 'dark']),
});
export type Settings = z.infer<typeof settings>;

export const defaultSettings: Settings = {
  revealSeconds: 20,
  clipboardSeconds: 30,
  lockAfterMinutes: 15,
  reasons: ['Chargeback response', 'Refund', 'Fraud review', 'Customer request', 'Regulator or court order'],
  caseRequired: true,
  theme: 'system',
};
