import { install } from '../../.ci/installed.mjs'

/** The packages of the guides, before their tests. */
export default function setup(): void {
  install(['docs'])
}
