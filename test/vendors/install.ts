import { install } from '../../.ci/installed.mjs'

/** The packages of the vendors, before their tests. */
export default function setup(): void {
  install(['test/vendors'])
}
