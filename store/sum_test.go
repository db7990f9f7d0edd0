package store_test

import (
	"encoding/binary"
	"hash/crc32"
)

// summed is a value whose checksum is right.
func summed(key, body []byte) []byte {
	table := crc32.MakeTable(crc32.Castagnoli)
	sum := crc32.Update(crc32.Checksum(key, table), table, body)
	return binary.BigEndian.AppendUint32(append([]byte(nil), body...), sum)
}

// newer is a sealed record of the next format.
func newer(sealed []byte, key int) []byte {
	body := append([]byte(nil), sealed[key:len(sealed)-4]...)
	body[0] = 2
	return summed(sealed[:key], body)
}
