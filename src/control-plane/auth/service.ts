/** What the operations of the auth service need. */
export interface AuthService {
  /** Ends its long polls. */
  close(): Promise<void>
}
