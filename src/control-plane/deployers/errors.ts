import { AgentwireError } from '../../errors.ts'

/** A deployer's work failed in a way that whoever deploys can understand and mend. The message is shown to them. */
export class DeployError extends AgentwireError {
  static override readonly brand = 'DeployError'
  constructor(message: string, options?: { readonly cause?: unknown }) {
    super('deploy_failed', message, options)
  }
}
