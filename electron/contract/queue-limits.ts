/** So many files are taken at once. Apart from the schemas, which the window does without. */
export const maxFiles = 1_000;
