/** The version of this package, as its manifest has it. Bundles cannot read that one. */
export const VERSION = '0.1.0'
