import type { DefinitionKind } from './models/connection.ts';

/** Made-up values, one of each kind, that definitions are previewed with. None is anybody's. */
export const exampleValues: Record<DefinitionKind, string> = {
  card: '4111 1111 1111 1111',
  ssn: '123-45-6789',
  email: 'jane.doe@example.com',
  text: 'A note on the order',
};
