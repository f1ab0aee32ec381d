import type { SealedSecret } from '../records/records.ts'

/** Encrypts secrets at rest. `place` binds a sealed value to its deployment, so that it cannot be moved to another one. */
export interface SecretBox {
  seal(place: string, secrets: readonly Secret[]): Promise<readonly SealedSecret[]>
  /** Throws where no key opens a value. */
  open(place: string, sealed: readonly SealedSecret[]): Promise<readonly Secret[]>
  /** A signature over the text, in base64url, for upload URLs and the state of OAuth flows. */
  sign(text: string): Promise<string>
  verify(text: string, signature: string): Promise<boolean>
}

export interface Secret {
  readonly name: string
  readonly value: string
}
