module bloomset

go 1.23

require github.com/tetratelabs/wazero v1.11.0
