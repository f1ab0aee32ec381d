import { AgentwireError } from '../../errors.ts'

/** A failure of a deployer that its clients can fix: the message is shown to them. */
export class DeployError extends AgentwireError {
  static override readonly brand = 'DeployError'
  constructor(message: string, options?: { readonly cause?: unknown }) {
    super('deploy_failed', message, options)
  }
}
