/** The keychain account of the key that results and spooled sources are sealed with. */
export const keyAccount = 'batch-results';
