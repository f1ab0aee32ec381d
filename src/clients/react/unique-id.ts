/** 128 random bits as text. `crypto.randomUUID` does not exist on pages without https. */
export const uniqueId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join(
    '',
  )
