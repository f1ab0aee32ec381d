/** The layout shows the address's thread. */
export default function Thread() {
  return null
}
