export { buildUnlessBuilt as default } from '../../.ci/built.mjs'
