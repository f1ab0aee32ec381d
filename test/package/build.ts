import { buildUnlessBuilt } from '../../.ci/built.mjs'
import { install } from '../../.ci/installed.mjs'

/** What the tests of the package look at: the build, and with it the guides, whose packages have types. */
export default function setup(): void {
  install(['docs'])
  buildUnlessBuilt()
}
