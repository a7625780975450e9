/** What is looked for in every cell, with the one finder that the masks have. Apart from the models, since the window bundles no schema. */
export const inventoryKinds = ['card', 'ssn', 'iban', 'email'] as const;
