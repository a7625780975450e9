/** How long what was removed can be brought back. Main is asked to remove it at once and holds it in memory that long. */
export const undoMs = 8_000;
