/** The version in package.json, repeated here because bundles cannot read that file. */
export const VERSION = '0.1.0'
