#!/bin/sh
# The guide's scripts for Slurm, by a Slurm of this machine's own: a task of the array is killed, what --finish prints is
# submitted again, a part runs twice. Needs root and Debian's packages slurmctld, slurmd, slurm-client and munge; own folders
# and ports.
# usage: slurm.sh PROGRAM
set -eu
. "$(dirname "$0")/common.sh"
for tool in slurmctld slurmd sbatch munged; do
    command -v $tool >/dev/null || install slurmctld slurmd slurm-client munge || skip "no Slurm"
done
[ "$(id -u)" = 0 ] || skip "Slurm wants root here"
chmod 755 .
mkdir -p ctld d munge && chown munge munge 2>/dev/null && chmod 755 munge || skip "no user munge"
head -c 1024 /dev/urandom >munge/key && chown munge munge/key && chmod 400 munge/key
runuser -u munge -- munged --foreground --key-file="$PWD/munge/key" --socket="$PWD/munge/socket" \
    --pid-file="$PWD/munge/pid" --log-file="$PWD/munge/log" --seed-file="$PWD/munge/seed" >munged.log 2>&1 &
MUNGED=$!
host=$(hostname -s)
cat >slurm.conf <<EOF
ClusterName=parts
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=16817
SlurmdPort=16818
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$PWD/munge/socket
StateSaveLocation=$PWD/ctld
SlurmdSpoolDir=$PWD/d
SlurmctldPidFile=$PWD/ctld/pid
SlurmdPidFile=$PWD/d/pid
SlurmctldLogFile=$PWD/ctld.log
SlurmdLogFile=$PWD/d.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$host Default=YES State=UP OverSubscribe=NO
EOF
export SLURM_CONF=$PWD/slurm.conf
slurmctld -D >/dev/null 2>&1 &
CTLD=$!
slurmd -D >/dev/null 2>&1 &
SLURMD=$!
stop() { kill "$SLURMD" "$CTLD" "$(cat munge/pid)" "$MUNGED" 2>/dev/null || :; wait 2>/dev/null || :; }
for _ in $(seq 30); do sinfo -h -o %t 2>/dev/null | grep -q idle && break; sleep 1; done
sinfo -h -o %t | grep -q idle || { tail -3 ctld.log d.log; skip "this machine runs no Slurm"; }
guide sh SLURM_ARRAY_TASK_ID >convert.sh
guide sh "sbatch --parsable" >finish.sh
sbatch finish.sh >sbatch.log
for _ in $(seq 600); do
    [ -d big.zarr ] || [ -z "$(squeue -h)" ] && break
    sleep 0.5
done
[ -d big.zarr ] || { cat slurm-*.out; echo "the chain has ended without the output"; exit 1; }
finished
