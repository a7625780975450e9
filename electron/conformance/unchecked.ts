/** Thrown by a check where the specification doesn't say. */
export class NotShown extends Error {}
/** Thrown by a check that the account, the profile or this run has nothing to make it with. */
export class NotTried extends Error {}
