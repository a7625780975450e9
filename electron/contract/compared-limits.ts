/** Apart from the models, since the window bundles no schema. More would not fit the bits of a row's group. */
export const maxComparedFiles = 8;
