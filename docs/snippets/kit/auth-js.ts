/** What the tests of the sign-in guide use of Auth.js, which is a package of this folder's `package.json` alone. */
export { Auth } from '@auth/core'
export { encode } from '@auth/core/jwt'
export { default as Credentials } from '@auth/core/providers/credentials'
